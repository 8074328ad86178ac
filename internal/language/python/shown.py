"""The names of each module that scripts see. A name that is not listed is not visible; a
new name of a later Python must be reviewed first. The kinds of names:

    functions   take and return values: they only call functions and methods that the script
                passes, with arguments that belong to the script
    final       classes that scripts cannot inherit from
    open        classes that they can: what their methods pass to a script's override
                belongs to the script
    values      numbers, strings, and tables as tuples
    replaced    ours, from the parts before this one or from library.py
"""

SHOWN = {
    "math": dict(functions="""
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs
        factorial floor fma fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10
        log1p log2 modf nextafter perm pow prod radians remainder sin sinh sqrt sumprod tan tanh trunc ulp
    """, values="e inf nan pi tau"),
    "cmath": dict(functions="""
        acos acosh asin asinh atan atanh cos cosh exp isclose isfinite isinf isnan log log10 phase polar rect sin sinh sqrt tan tanh
    """, values="e inf infj nan nanj pi tau"),
    "decimal": dict(functions="getcontext localcontext setcontext", final="Context DecimalTuple", open="""
        Decimal Clamped ConversionSyntax DecimalException DivisionByZero DivisionImpossible DivisionUndefined FloatOperation
        Inexact InvalidContext InvalidOperation Overflow Rounded Subnormal Underflow
    """, values="""
        HAVE_CONTEXTVAR HAVE_THREADS MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR
        ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP
    """),
    "fractions": dict(open="Fraction"),
    "statistics": dict(functions="""
        correlation covariance fmean geometric_mean harmonic_mean kde kde_random linear_regression mean median median_grouped
        median_high median_low mode multimode pstdev pvariance quantiles stdev variance
    """, final="NormalDist", open="StatisticsError"),
    "json": dict(functions="dump dumps load loads", open="JSONDecodeError JSONDecoder JSONEncoder"),
    "re": dict(replaced="compile escape findall finditer fullmatch match search split sub subn RegexFlag", final="Match Pattern", open="PatternError error"),
    "string": dict(replaced="capwords Formatter Template", values="""
        ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace
    """),
    "textwrap": dict(replaced="dedent fill indent shorten wrap", final="TextWrapper"),
    "unicodedata": dict(functions="""
        bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup mirrored name
        normalize numeric
    """, values="unidata_version"),
    "difflib": dict(functions="""
        IS_CHARACTER_JUNK IS_LINE_JUNK context_diff diff_bytes get_close_matches ndiff restore unified_diff
    """, final="Differ SequenceMatcher Match"),
    "datetime": dict(open="date datetime time timedelta tzinfo", final="timezone", values="MAXYEAR MINYEAR UTC"),
    "calendar": dict(functions="""
        calendar firstweekday isleap leapdays month monthcalendar monthrange prcal prmonth timegm weekday weekheader
    """, open="Calendar HTMLCalendar TextCalendar IllegalMonthError IllegalWeekdayError", replaced="""
        Day Month day_abbr day_name month_abbr month_name
        MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY
        JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER
    """, values="EPOCH"),
    "collections": dict(open="ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque", replaced="namedtuple"),
    "collections.abc": dict(open="""
        AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer ByteString Callable Collection Container Coroutine Generator
        Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet Reversible
        Sequence Set Sized ValuesView
    """),
    "itertools": dict(functions="tee", final="""
        accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby
        islice pairwise permutations product repeat starmap takewhile zip_longest
    """),
    "functools": dict(functions="cmp_to_key reduce", final="partial", values="Placeholder", replaced="""
        cache lru_cache singledispatch total_ordering update_wrapper wraps cached_property partialmethod singledispatchmethod
        WRAPPER_ASSIGNMENTS WRAPPER_UPDATES
    """),
    "operator": dict(functions="""
        abs add and_ call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv ilshift imatmul
        imod imul index indexOf inv invert ior ipow irshift is_ is_not is_none is_not_none isub itruediv ixor le length_hint
        lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
    """, final="itemgetter", replaced="attrgetter methodcaller"),
    "enum": dict(replaced=" ".join(ENUM)),
    "dataclasses": dict(replaced="dataclass " + " ".join(DATACLASSES)),
    "typing": dict(replaced=" ".join(TYPING) + " Deque DefaultDict OrderedDict Counter ChainMap Type Pattern Match ContextManager AsyncContextManager NamedTuple TypedDict"),
    "copy": dict(replaced=" ".join(COPY)),
    "pprint": dict(replaced=" ".join(PPRINT)),
    "hashlib": dict(functions="""
        md5 pbkdf2_hmac scrypt sha1 sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256
    """, final="blake2b blake2s", replaced="new", values="algorithms_available algorithms_guaranteed"),
    "base64": dict(functions="""
        a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode b64encode b85decode
        b85encode decodebytes encodebytes standard_b64decode standard_b64encode urlsafe_b64decode urlsafe_b64encode
        z85decode z85encode
    """),
    "random": dict(functions="""
        betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits getstate lognormvariate
        normalvariate paretovariate randbytes randint random randrange sample shuffle triangular uniform vonmisesvariate
        weibullvariate
    """, final="Random SystemRandom", replaced="seed setstate"),
    "uuid": dict(functions="uuid1 uuid3 uuid4 uuid5 uuid6 uuid7 uuid8", final="UUID", values="""
        NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 RESERVED_FUTURE RESERVED_MICROSOFT RESERVED_NCS RFC_4122 NIL MAX
    """),
    "struct": dict(replaced="calcsize iter_unpack pack pack_into unpack unpack_from", final="Struct", open="error"),
    "heapq": dict(functions="""
        heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest
        heapify_max heappop_max heappush_max heappushpop_max heapreplace_max
    """),
    "bisect": dict(functions="bisect bisect_left bisect_right insort insort_left insort_right"),
    "abc": dict(open="ABC", replaced="ABCMeta abstractmethod abstractproperty"),
    "contextlib": dict(replaced="contextmanager", final="ExitStack closing nullcontext suppress", open="AbstractContextManager ContextDecorator"),
    "time": dict(functions="""
        asctime ctime gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns
        sleep strftime strptime thread_time thread_time_ns time time_ns
    """, final="struct_time", values="altzone daylight timezone tzname"),
    "sys": dict(replaced="argv byteorder exit float_info getrecursionlimit int_info maxsize setrecursionlimit stderr stdin stdout version version_info"),
    "__future__": dict(values="annotations"),
}
