"""The modules, as scripts see them.

A module is handed out as a facade with the names that shown.py lists. Replacements come
from the parts before, or from the methods of Library here, one for each module.
"""


class Library(Builder, Functions, Records):
    """Makes the facades."""

    def facade(self, name):
        """Returns the facade of a module."""
        if name in self.facades:
            return self.facades[name]
        facade = self.facades[name] = module()
        shown = facade.__dict__
        if name in self.modules:
            shown.update(self.contents(name))
        for other in self.modules:
            parent, _, child = other.rpartition(".")
            if parent == name:
                shown[child] = self.facade(other)
        return facade

    def contents(self, name):
        __import__(name)
        real, listed = sys.modules[name], SHOWN.get(name)
        if listed is None:
            return self.unlisted(real)
        shown = {}
        maker = getattr(self, "replace_" + name.replace(".", "_"), None)
        replaced = maker(real) if maker is not None else {}
        for kind, names in listed.items():
            for n in names.split():
                if kind == "replaced":
                    if n in replaced:
                        value = shown[n] = replaced[n]
                        own = value if is_class(value) else REAL_TYPE(value)
                        if is_ours(own):
                            fix_class(own)
                elif hasattr(real, n):
                    value = shown[n] = fixed(getattr(real, n))
                    if is_class(value):
                        fix_class(value)
                        if kind == "open":
                            self.open.add(value)
        return shown

    def unlisted(self, real):
        """Returns the facade of a module that a policy added: its public names, but no modules."""
        names = set(getattr(real, "__all__", ())) or set(vars(real))
        for n in names:
            if n.startswith("_") or n in PROGRAMS or n not in vars(real):
                continue
            value = vars(real)[n]
            if is_a(value, types.ModuleType) or is_class(value) and REAL_TYPE in MRO_OF(value):
                continue
            if is_class(value):
                fix_class(value)
                self.open.add(value)
            yield n, fixed(value)

    # ---- replacements

    def replace_enum(self, real):
        self.open.update(value for value in ENUM.values() if REAL_TYPE(value) is EnumType)
        return {name: value for name, value in ENUM.items() if hasattr(real, name)}

    def replace_dataclasses(self, real):
        return dict({name: value for name, value in DATACLASSES.items() if hasattr(real, name)}, dataclass=self.dataclass)

    def replace_copy(self, real):
        import functools
        import random

        def generator(x):
            made = random.Random()
            made.setstate(x.getstate())
            return made

        REBUILT[random.Random] = generator
        REBUILT[functools.partial] = lambda x: functools.partial(x.func, *x.args, **x.keywords)
        return {name: value for name, value in COPY.items() if hasattr(real, name)}

    def replace_pprint(self, real):
        import collections

        if not any(known is collections.Counter.__repr__ for known, _ in PRINTERS):
            PRINTERS.append((collections.Counter.__repr__, PrettyPrinter._called))
        return {name: value for name, value in PPRINT.items() if hasattr(real, name)}

    def replace_typing(self, real):
        """The interpreter itself uses typing for class X[T]. This answers what it asks a
        script's object there."""
        import collections
        import contextlib
        import re

        for name in "_type_check", "_type_convert":
            if hasattr(real, name):
                setattr(real, name, lambda arg, *rest, **options: arg)
        for name in "_typevar_subst", "_paramspec_subst":
            if hasattr(real, name):
                setattr(real, name, lambda variable, arg: arg)
        if hasattr(real, "_make_union"):
            real._make_union = lambda left, right: union((left, right))
        more = {
            "Deque": collections.deque, "DefaultDict": collections.defaultdict, "OrderedDict": collections.OrderedDict,
            "Counter": collections.Counter, "ChainMap": collections.ChainMap, "Pattern": re.Pattern, "Match": re.Match,
            "ContextManager": contextlib.AbstractContextManager, "AsyncContextManager": contextlib.AbstractAsyncContextManager,
            "Type": ANY_TYPE,
        }
        shown = dict(TYPING, **{name: Form(name, origin) for name, origin in more.items()})
        for name, origin, make in ("NamedTuple", NAMED_TUPLE, self.named_tuple), ("TypedDict", TYPED_DICT, self.typed_dict):
            shown[name] = _Marker(name, origin, make)
        self.open.update(form._origin for form in shown.values() if REAL_TYPE(form) in (Form, _Marker) and form._origin not in (None, ANY_TYPE, re.Pattern, re.Match))
        self.open.update(GENERIC_BASES)
        self.open.update(value for name, value in TYPING.items() if name.startswith("Supports"))
        return {name: value for name, value in shown.items() if hasattr(real, name)}

    def replace_collections(self, real):
        def format(self, *args, **kwargs):
            return formatting(self.data, "format").format(*args, **kwargs)

        def format_map(self, mapping):
            return formatting(self.data, "format_map").format_map(mapping)

        def __copy__(self):
            made = object.__new__(REAL_TYPE(self))
            space = attributes_of(made)
            space.update(attributes_of(self), data=copy(self.data))
            return made

        formatting = self.formatting
        real.UserString.format, real.UserString.format_map = format, format_map
        real.UserDict.__copy__ = real.UserList.__copy__ = __copy__
        real.UserDict.copy = lambda self: self.__copy__()
        return {"namedtuple": self.namedtuple}

    def replace_datetime(self, real):
        """Date formats are cached for all scripts, so no format may be a text that lies
        about which one it is."""
        import _strptime

        parse = _strptime._strptime
        if parse.__name__ != "exact_format":
            def exact_format(data_string, format="%a %b %d %H:%M:%S %Y"):
                return parse(exact(data_string), exact(format))

            _strptime._strptime = exact_format
        return {}

    replace_time = replace_datetime

    def replace_functools(self, real):
        global CACHE_INFO

        CACHE_INFO = real._CacheInfo
        classes = library_classes(self)
        BINDERS.update(classes.values())
        return dict(
            classes, update_wrapper=self.update_wrapper, wraps=self.wraps, lru_cache=self.lru_cache, cache=self.cache,
            total_ordering=self.total_ordering, singledispatch=self.singledispatch,
            WRAPPER_ASSIGNMENTS=WRAPPED_NAMES + ("__annotations__",), WRAPPER_UPDATES=("__dict__",),
        )

    def replace_abc(self, real):
        return {"ABCMeta": ABC_META, "abstractmethod": self.abstractmethod,
                "abstractproperty": lambda function: property(self.abstractmethod(function))}

    def replace_contextlib(self, real):
        return {"contextmanager": contextmanager}

    def replace_operator(self, real):
        def attrgetter(*names):
            for name in names:
                check_names(name)
            get = real.attrgetter(*names)
            if len(names) == 1:
                return lambda thing: copied(get(thing))  # the type of the copy cannot be called
            return lambda thing: tuple(map(copied, get(thing)))

        def methodcaller(name, /, *args, **kwargs):
            check_names(name)
            call = real.methodcaller(name, *args, **kwargs)
            return lambda thing: call(thing)

        return {"attrgetter": attrgetter, "methodcaller": methodcaller}

    def replace_random(self, real):
        def seed(a=None, version=2):
            self.reseed = True
            return real.seed(exact(a), version)

        def setstate(state):
            self.reseed = True
            return real.setstate(state)

        return {"seed": seed, "setstate": setstate}

    def replace_re(self, real):
        """Patterns and flags are cached for all scripts, and texts are asked to translate
        themselves, so all are replaced by exact values first."""
        flags = {}
        for name in "NOFLAG ASCII A IGNORECASE I LOCALE L UNICODE U MULTILINE M DOTALL S VERBOSE X DEBUG".split():
            if hasattr(real, name):
                flags[name] = int(getattr(real, name))
        kind = library_flags("RegexFlag", "re", flags)

        def pattern(given):
            return given if REAL_TYPE(given) is real.Pattern else exact(given)

        def bits(flags):
            if not is_a(flags, int):  # re would compare it with its own flags
                raise TypeError("flags must be an int, not %s" % NAME_OF(REAL_TYPE(flags)))
            return exact(flags)

        def simple(function):
            def wrapped(pattern_, string, flags=0):
                return function(pattern(pattern_), string, bits(flags))

            wrapped.__name__ = wrapped.__qualname__ = function.__name__
            return wrapped

        def compile(pattern_, flags=0):
            return real.compile(pattern(pattern_), bits(flags))

        def split(pattern_, string, maxsplit=0, flags=0):
            return real.compile(pattern(pattern_), bits(flags)).split(string, maxsplit)

        def sub(pattern_, repl, string, count=0, flags=0):
            return real.compile(pattern(pattern_), bits(flags)).sub(exact(repl), string, count)

        def subn(pattern_, repl, string, count=0, flags=0):
            return real.compile(pattern(pattern_), bits(flags)).subn(exact(repl), string, count)

        def of_template(function):
            def checked(pattern, template):
                return function(pattern, exact(template))

            return checked

        for name in "_compile_template", "_subx":  # since 3.12, and before: used by Pattern.sub
            if hasattr(real, name) and getattr(real, name).__name__ != "checked":
                setattr(real, name, of_template(getattr(real, name)))
        shown = {name: simple(getattr(real, name)) for name in ("findall", "finditer", "fullmatch", "match", "search")}
        shown.update((name, table_of(kind, MEMBERS)[name]) for name in flags)
        SHOWN["re"]["replaced"] += " " + " ".join(flags)
        return dict(shown, compile=compile, split=split, sub=sub, subn=subn, escape=lambda pattern: real.escape(exact(pattern)), RegexFlag=kind)

    def replace_calendar(self, real):
        row = real.formatstring
        if row.__name__ != "checked":
            def checked(cols, colwidth, spacing):
                if not is_a(spacing, int):  # otherwise str.join of (spacing * " ") would be called on it
                    raise TypeError("the space between columns must be an int, not %s" % NAME_OF(REAL_TYPE(spacing)))
                return row(cols, colwidth, exact(spacing))

            real.formatstring = checked
        shown = {name: tuple(getattr(real, name)) for name in ("day_abbr", "day_name", "month_abbr", "month_name")}
        days = [name.upper() for name in "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()]
        months = "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER".split()
        for kind, names, first in ("Day", days, 0), ("Month", months, 1):
            numbers = {name: n for n, name in enumerate(names, first)}
            if hasattr(real, kind):
                made = library_flags(kind, "calendar", numbers, IntEnum)
                setattr(real, kind, made)  # calendar's own functions hand out its members
                shown[kind] = made
                numbers = table_of(made, MEMBERS)
                for name, value in numbers.items():
                    setattr(real, name, value)
            shown.update((name, value) for name, value in numbers.items() if hasattr(real, name))
        return shown

    def replace_hashlib(self, real):
        def new(name, data=b"", **options):
            return real.new(exact(name), data, **options)

        return {"new": new}

    def replace_struct(self, real):
        """Formats are cached for all scripts."""
        def exact_first(function):
            def wrapped(format, /, *args, **kwargs):
                return function(exact(format), *args, **kwargs)

            wrapped.__name__ = wrapped.__qualname__ = function.__name__
            return wrapped

        return {name: exact_first(getattr(real, name)) for name in ("calcsize", "iter_unpack", "pack", "pack_into", "unpack", "unpack_from")}

    def replace_textwrap(self, real):
        def exact_first(function):
            def wrapped(text, *args, **kwargs):
                return function(exact(text), *args, **kwargs)

            wrapped.__name__ = wrapped.__qualname__ = function.__name__
            return wrapped

        for name in "wrap", "fill":
            method = DICT_OF(real.TextWrapper)[name]
            if method.__name__ != "checked":
                setattr(real.TextWrapper, name, for_objects_of(real.TextWrapper, exact_text_of(method)))
        return {name: exact_first(getattr(real, name)) for name in ("dedent", "fill", "indent", "shorten", "wrap")}

    def replace_uuid(self, real):
        make, uuid3, uuid5 = real.UUID.__init__, real.uuid3, real.uuid5
        if make.__name__ != "checked":
            def checked(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None, version=None, *, is_safe=real.SafeUUID.unknown):
                if REAL_TYPE(self) is not real.UUID:
                    raise TypeError("UUID() needs an object of its own")
                fields = None if fields is None else tuple(map(exact, exact_items(fields, "fields")))
                make(self, exact(hex), exact(bytes), exact(bytes_le), fields, exact(int), exact(version))

            real.UUID.__init__ = checked
        return {}

    def replace_string(self, real):
        return string_classes(self, real)

    def replace_sys(self, real):
        return system_module(real)


PROGRAMS = words("main test")

# The interpreter imports these on its own while a script runs: datetime.strptime, int("9" *
# 5000), a warning. It gets the real modules; a script that gets here gets nothing.
INTERNAL = words("_strptime time warnings _pylong _pydecimal _pydatetime unicodedata collections.abc io traceback copyreg")

# Scripts may change instances of these library classes that they make.
CHANGEABLE = (
    ("calendar", "Calendar TextCalendar HTMLCalendar"), ("collections", "UserDict UserList UserString Counter OrderedDict defaultdict deque"),
    ("decimal", "Context"), ("difflib", "SequenceMatcher Differ"), ("functools", "partial _lru_cache_wrapper"),
    ("json", "JSONEncoder JSONDecoder"), ("random", "Random SystemRandom"), ("textwrap", "TextWrapper"),
)

# Private only by their spelling: namedtuple and Enum offer them to everybody.
OFFERED = words("""
    _fields _field_defaults _replace _asdict _make
    _value_ _name_ _missing_ _ignore_ _order_ _generate_next_value_
""")

# Modules in which a script cannot leave anything behind.
TRACELESS = words("math random json re collections collections.abc datetime itertools functools __future__")


def copied(value):
    """Copies a mapping proxy of the library: the original would pass its mapping to any
    object that it is compared with."""
    return types.MappingProxyType(dict(value)) if REAL_TYPE(value) is types.MappingProxyType else value


def used_names(kind):
    """Returns the names in the methods of a class. They include the attributes of its
    objects."""
    for value in DICT_OF(kind).values():
        if REAL_TYPE(value) is FUNCTION:
            wrapped = value.__dict__.get("__wrapped__")
            yield from (wrapped if REAL_TYPE(wrapped) is FUNCTION else value).__code__.co_names


def fixed(value):
    """Returns an immutable copy of a container of the library."""
    kind = REAL_TYPE(value)
    return tuple(value) if kind is list else frozenset(value) if kind is set else table(value) if kind is dict else value


def table(entries):
    """A dict that only looks up. A mapping proxy would pass its mapping to any object that
    it is compared with."""
    class Table:
        def __getitem__(self, key):
            return entries[key]

        def __iter__(self):
            return iter(tuple(entries))

        def __len__(self):
            return len(entries)

        def __contains__(self, key):
            return key in entries

    return Table()


def fix_class(shown):
    """Does the same for the attributes of a library class, and restricts its methods that
    set attributes to its own objects."""
    for base in MRO_OF(shown):
        for name, value in tuple(DICT_OF(base).items()):
            if not name.startswith("_") and fixed(value) is not value:
                setattr(base, name, fixed(value))
            elif REAL_TYPE(value) is property:
                parts = [for_objects_of(base, part) if sets_attributes(part, base) else part for part in (value.fget, value.fset, value.fdel)]
                if parts != [value.fget, value.fset, value.fdel]:
                    setattr(base, name, property(*parts, value.__doc__))
            elif sets_attributes(value, base) and (is_dunder(name) or not name.startswith("_")):
                setattr(base, name, for_objects_of(base, value))


def is_ours(kind):
    return any(REAL_TYPE(value) is FUNCTION and GLOBALS_OF(value) is GLOBALS_OF(refuse) for value in DICT_OF(kind).values())


def sets_attributes(method, owner):
    """Whether a method changes its object or makes another of its class. Called on a class,
    such a method would act as one of a metaclass."""
    if REAL_TYPE(method) is not FUNCTION or method.__name__ == "__new__":
        return False
    if method.__qualname__ != "%s.%s" % (owner.__qualname__, method.__name__):  # it belongs to another class
        return False
    import opcode

    return opcode.opmap["STORE_ATTR"] in method.__code__.co_code[::2] or bool(TRUSTING & names_in(method.__code__))


TRUSTING = words("__setattr__ __class__ type")


def names_in(code):
    names = set(code.co_names)
    for inner in code.co_consts:
        if REAL_TYPE(inner) is types.CodeType:
            names |= names_in(inner)
    return names


def for_objects_of(owner, method):
    def checked(self, /, *args, **kwargs):
        if owner not in MRO_OF(REAL_TYPE(self)):
            raise TypeError("%s() needs an object of the class %s" % (method.__name__, owner.__name__))
        return method(self, *args, **kwargs)

    checked.__name__, checked.__doc__, checked.__wrapped__ = method.__name__, method.__doc__, method
    return checked


def exact_text_of(method):
    def exact_method(self, text):
        return method(self, exact(text))

    exact_method.__name__, exact_method.__doc__ = method.__name__, method.__doc__
    return exact_method
