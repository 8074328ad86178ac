"""Third part: what scripts see of the library.

They get it through facades, which show public names and cannot be changed. What
believes its caller too much is replaced, or guarded where it lies.
"""
import types

REAL_TYPE = type
FUNCTION = types.FunctionType
DICT_OF = REAL_TYPE.__dict__["__dict__"].__get__  # of a class, whatever its metaclass says
MRO_OF = REAL_TYPE.__dict__["__mro__"].__get__


class RuleViolation(Exception):
    """The rules refuse what a script tried while it ran."""


def refuse(rule, reason):
    raise RuleViolation("%s: %s" % (rule, reason)) from None


class module:
    """A facade. Its class has no method that could change it, and it does not
    know its name: by that the interpreter would find the submodules of the
    module behind it."""

    def __setattr__(self, name, value):
        refuse("shared-object", "a module cannot be changed")

    def __delattr__(self, name):
        refuse("shared-object", "a module cannot be changed")

    def __repr__(self):
        return "<module>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


# What is public, and yet does for a script what the rules refuse: it evaluates
# text, makes classes, or writes into modules.
HIDDEN = {
    "dataclasses": words("make_dataclass Field"),
    "decimal": words("DefaultContext BasicContext ExtendedContext"),  # one for all, and changed by their methods
    "enum": words("global_enum global_enum_repr global_flag_repr global_str EnumDict pickle_by_enum_name pickle_by_global_name"),
    "typing": words("""
        get_type_hints ForwardRef evaluate_forward_ref no_type_check no_type_check_decorator
        get_overloads clear_overloads
    """),
}
PROGRAMS = words("main test")

# Public, but not in the list of public names.
ADDED = {"re": words("RegexFlag")}

# The interpreter imports these by itself, in the name of the script that it
# runs: datetime.strptime, int("9" * 5000), a warning. What it gets is its own
# business; a script that came here would get nothing.
INTERNAL = words("_strptime time warnings _pylong _pydecimal _pydatetime unicodedata collections.abc io traceback copyreg")

# Instances of these classes of the library are their maker's own.
CHANGEABLE = (
    ("calendar", "Calendar TextCalendar HTMLCalendar"), ("collections", "UserDict UserList UserString Counter OrderedDict defaultdict deque"),
    ("decimal", "Context"), ("difflib", "SequenceMatcher Differ HtmlDiff"), ("functools", "partial _lru_cache_wrapper"),
    ("json", "JSONEncoder JSONDecoder"), ("pprint", "PrettyPrinter"), ("random", "Random SystemRandom"),
    ("string", "Template Formatter"), ("textwrap", "TextWrapper"),
)

# Private by their spelling alone: what namedtuple and Enum offer to everybody.
OFFERED = words("""
    _fields _field_defaults _replace _asdict _make
    _value_ _name_ _missing_ _ignore_ _order_ _generate_next_value_
""")

# Modules of which we know that a script can leave nothing behind in them.
TRACELESS = words("math random json re collections collections.abc datetime itertools functools __future__")


class Library:
    """The modules that need more than a facade. Each method gets one of them, and
    gives what is shown in place of what it has."""

    def replacements(self, name, real):
        maker = getattr(self, "replace_" + name.replace(".", "_"), None)
        return maker(real) if maker is not None else {}

    def replace_collections(self, real):
        def format(self, *args, **kwargs):
            return formatting(self.data, "format").format(*args, **kwargs)

        def format_map(self, mapping):
            return formatting(self.data, "format_map").format_map(mapping)

        def __copy__(self):
            kind = REAL_TYPE(self)
            made = kind.__new__(kind)
            if REAL_TYPE(made) is not kind or not issubclass(kind, (real.UserDict, real.UserList)):
                raise TypeError("%s cannot be copied" % kind.__name__)
            made.__dict__.update(self.__dict__, data=self.data.copy())
            return made

        formatting = self.formatting
        real.UserString.format, real.UserString.format_map = format, format_map
        real.UserDict.__copy__ = real.UserList.__copy__ = __copy__
        real.UserDict.copy = lambda self: self.__copy__()
        return {}

    def guard_copy(self, real):
        """copy believes what an object says of how it is made anew: the guard
        sits where that is done."""
        reconstruct, copy_method = real._reconstruct, real._deepcopy_dispatch[types.MethodType]
        if reconstruct.__name__ == "guarded":
            return

        def guarded(x, memo, func, args, *rest, **keywords):
            def make(*args):
                made = self.own(func(*args))
                if REAL_TYPE(made) is FUNCTION or issubclass(REAL_TYPE(made), REAL_TYPE):
                    refuse("shared-object", "copy makes no functions and classes")
                return made

            return reconstruct(x, memo, func if REAL_TYPE(x) in self.library else make, args, *rest, **keywords)

        def set_attribute(thing, name, value):
            if REAL_TYPE(name) is not str or is_dunder(name):
                refuse("attribute-by-string", "copy cannot set the attribute %.100r" % (name,))
            setattr(thing, name, value)

        def method(x, memo):
            # The memo would show the object that a function of the library is a method of.
            return x if REAL_TYPE(x.__self__) in self.library else copy_method(x, memo)

        real._reconstruct, real.setattr = guarded, set_attribute
        real._deepcopy_dispatch[types.MethodType] = method

    def replace_dataclasses(self, real):
        def dataclass(cls=None, /, **options):
            def decorate(cls):
                if not issubclass(REAL_TYPE(cls), REAL_TYPE):
                    raise TypeError("dataclass() needs a class")
                self.own(cls)
                if REAL_TYPE(DICT_OF(cls).get("__doc__")) is not str:
                    # dataclass would ask inspect for one, which evaluates the text of a signature.
                    cls.__doc__ = cls.__name__
                return self.own_class(real.dataclass(**options)(cls))

            return decorate if cls is None else decorate(cls)

        get_field = real._get_field

        def guarded(cls, name, *rest):
            # A field becomes a part of the text that is executed.
            if REAL_TYPE(name) is not str or not name.isidentifier():
                refuse("attribute-by-string", "a field cannot have the name %.100r" % (name,))
            if cls not in self.library:
                self.check_pattern(MRO_OF(cls), name)
            return get_field(cls, name, *rest)

        real._get_field = guarded
        make_final(real.Field)
        return {"dataclass": dataclass}

    def replace_datetime(self, real):
        """Formats of dates are remembered for all, as patterns are: see replace_re."""
        import _strptime

        parse = _strptime._strptime

        def exact_format(data_string, format="%a %b %d %H:%M:%S %Y"):
            return parse(data_string, exact(format))

        _strptime._strptime = exact_format
        return {}

    def replace_enum(self, real):
        create = real.EnumMeta._create_

        def _create_(cls, class_name, names, **options):
            if isinstance(names, str):
                names = str.__str__(names).replace(",", " ").split()
            elif isinstance(names, (list, tuple)):
                names = [n if isinstance(n, str) else tuple(n) for n in names]
            else:
                names = [(n, names[n]) if isinstance(n, str) else tuple(n) for n in names or ()]
            for n in names:
                n = n if isinstance(n, str) else n[0] if n else None
                if REAL_TYPE(n) is not str or is_dunder(n):
                    refuse("attribute-by-string", "an enumeration cannot have a member %.100r" % (n,))
            if not exact_names(options):
                raise TypeError("keywords must be strings")
            if options.get("module") is None:
                options["module"] = "__main__"
            if options.get("type") is not None:
                self.check_bases((options["type"], cls))
            return self.own_class(create(cls, class_name, names, **options))

        real.EnumMeta._create_ = _create_
        if hasattr(real, "property"):
            named = real.property.__set_name__

            def __set_name__(self, owner, name):
                # It looks the name up in the value of a member.
                if REAL_TYPE(name) is not str or not matchable(name):
                    refuse("attribute-by-string", "a property cannot have the name %.100r" % (name,))
                named(self, owner, name)

            real.property.__set_name__ = __set_name__
            make_final(real.property)
        return {}

    def replace_functools(self, real):
        wrappable = FUNCTION, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, real.partial, real._lru_cache_wrapper

        def update_wrapper(wrapper, wrapped, assigned=real.WRAPPER_ASSIGNMENTS, updated=real.WRAPPER_UPDATES):
            if tuple(assigned) != real.WRAPPER_ASSIGNMENTS or tuple(updated) != real.WRAPPER_UPDATES:
                refuse("attribute-by-string", "update_wrapper cannot be told which attributes to copy")
            if wrapped in self.library if isinstance(wrapped, REAL_TYPE) else REAL_TYPE(wrapped) in self.library and REAL_TYPE(wrapped) not in wrappable:
                refuse("shared-object", "an object of the library cannot be wrapped, but for a function")
            return real.update_wrapper(self.own(wrapper), wrapped)

        def wraps(wrapped, assigned=real.WRAPPER_ASSIGNMENTS, updated=real.WRAPPER_UPDATES):
            return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)

        def total_ordering(cls):
            return real.total_ordering(self.own(cls))

        dispatch = real.singledispatch

        def singledispatch(func):
            dispatcher = dispatch(func)
            register = dispatcher.register

            def guarded(cls, func=None):
                if func is None and not issubclass(REAL_TYPE(cls), REAL_TYPE) and REAL_TYPE(cls) is not UNION:
                    # functools would evaluate the text of annotations.
                    return register(annotated(cls, self.builtins), cls)
                return register(cls, func)

            dispatcher.register = guarded
            return dispatcher

        real.singledispatch = singledispatch  # for singledispatchmethod, which uses it
        return {
            "update_wrapper": update_wrapper, "wraps": wraps, "total_ordering": total_ordering, "singledispatch": singledispatch,
        }

    def replace_operator(self, real):
        def attrgetter(*names):
            for name in names:
                check_names(name)
            get = real.attrgetter(*names)
            if len(names) == 1:
                return lambda thing: copied(get(thing))  # whose type makes no other
            return lambda thing: tuple(map(copied, get(thing)))

        def methodcaller(name, /, *args, **kwargs):
            check_names(name)
            call = real.methodcaller(name, *args, **kwargs)
            return lambda thing: call(thing)

        return {"attrgetter": attrgetter, "methodcaller": methodcaller}

    def replace_random(self, real):
        def seed(*args, **kwargs):
            self.reseed = True
            return real.seed(*args, **kwargs)

        def setstate(state):
            self.reseed = True
            return real.setstate(state)

        return {"seed": seed, "setstate": setstate}

    def replace_re(self, real):
        """Patterns and flags are remembered for all: none may be a text or a number
        that lies about which one it is."""
        compile_pattern, missing = real._compile, real.RegexFlag._missing_

        def _compile(pattern, flags):
            return compile_pattern(exact(pattern), flags if REAL_TYPE(flags) is real.RegexFlag else exact(flags))

        def of_template(function):
            return lambda pattern, template: function(pattern, exact(template))

        real._compile = _compile
        real.RegexFlag._missing_ = classmethod(lambda cls, value: missing(exact(value)))
        for name in "_compile_template", "_subx":  # since 3.12, and before
            if hasattr(real, name):
                setattr(real, name, of_template(getattr(real, name)))
        return {}

    def replace_string(self, real):
        def get_field(self, field_name, args, kwargs):
            import _string

            first, rest = _string.formatter_field_name_split(field_name)
            thing = self.get_value(first, args, kwargs)
            for is_attribute, key in rest:
                if is_attribute:
                    check_names(key)
                    thing = copied(getattr(thing, key))
                else:
                    thing = thing[key]
            return thing, first

        real.Formatter.get_field = get_field
        return {}

    def replace_typing(self, real):
        def get_origin(tp):
            return without_metaclass(real.get_origin(tp))

        def get_args(tp):
            return tuple(map(without_metaclass, real.get_args(tp)))

        def marking(mark):
            def marked(thing):
                if REAL_TYPE(thing) is FUNCTION or issubclass(REAL_TYPE(thing), REAL_TYPE):
                    self.own(thing)
                return mark(thing)

            return marked

        make_final(real._Final)
        shown = {name: marking(getattr(real, name)) for name in ("final", "override", "runtime_checkable") if hasattr(real, name)}
        if hasattr(real, "dataclass_transform"):
            shown["dataclass_transform"] = lambda **options: marking(real.dataclass_transform(**options))
        return dict(shown, get_origin=get_origin, get_args=get_args)


def copied(value):
    """A view of the library's is not given away: it shows what it is a view of to
    whatever it is compared with."""
    return types.MappingProxyType(dict(value)) if REAL_TYPE(value) is types.MappingProxyType else value


def exact_names(keywords):
    """Whether no name of an argument can be taken for another, later."""
    return all(REAL_TYPE(name) is str for name in keywords)


def keep_reference(self, **options):
    """In place of what evaluates the text of an annotation: what the interpreter
    has put together of one that failed is no text that the rules have seen."""
    return self


def used_names(kind):
    """The names in the methods of a class: among them are the attributes of its
    objects."""
    for value in DICT_OF(kind).values():
        if REAL_TYPE(value) is FUNCTION:
            wrapped = value.__dict__.get("__wrapped__")
            yield from (wrapped if REAL_TYPE(wrapped) is FUNCTION else value).__code__.co_names


def exact(value):
    """A text or number without what a class of the script's makes of it."""
    if isinstance(value, int):
        return int.__index__(value)
    for kind in str, bytes:
        if isinstance(value, kind):
            return kind.__getitem__(value, slice(None))
    return value


def make_final(kind):
    """For a class whose objects the library believes every word."""
    def __init_subclass__(cls, **keywords):
        refuse("base-class", "the class %s cannot be a base" % kind.__name__)

    kind.__init_subclass__ = classmethod(__init_subclass__)


def fixed(value):
    """A container of the library that a script could change is shown as one that
    it cannot."""
    kind = REAL_TYPE(value)
    return tuple(value) if kind is list else frozenset(value) if kind is set else table(value) if kind is dict else value


def table(entries):
    """A dict to look things up in. No more than that: a view of a dict shows it
    to whatever it is compared with."""
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
    """The same for what a class of the library has; and its methods that set
    attributes do so for its own objects alone."""
    for base in MRO_OF(shown):
        for name, value in tuple(DICT_OF(base).items()):
            if not name.startswith("_") and fixed(value) is not value:
                setattr(base, name, fixed(value))
            elif REAL_TYPE(value) is property and value.fset is not None and sets_attributes(value.fset, base):
                setattr(base, name, property(value.fget, for_objects_of(base, value.fset), value.fdel, value.__doc__))
            elif sets_attributes(value, base) and (is_dunder(name) or not name.startswith("_")):
                setattr(base, name, for_objects_of(base, value))


def sets_attributes(method, owner):
    if REAL_TYPE(method) is not FUNCTION or method.__name__ == "__new__":
        return False
    if method.__qualname__ != "%s.%s" % (owner.__qualname__, method.__name__):  # it belongs to another
        return False
    import opcode

    return opcode.opmap["STORE_ATTR"] in method.__code__.co_code[::2] or "__setattr__" in method.__code__.co_names


def for_objects_of(owner, method):
    def checked(self, /, *args, **kwargs):
        if owner not in MRO_OF(REAL_TYPE(self)):
            raise TypeError("%s() needs an object of the class %s" % (method.__name__, owner.__name__))
        return method(self, *args, **kwargs)

    checked.__name__, checked.__doc__, checked.__wrapped__ = method.__name__, method.__doc__, method
    return checked


def annotated(function, names):
    """The class that the first parameter of a function is annotated with; as a
    string it may be a plain name."""
    for name, kind in function.__annotations__.items():
        if name != "return":
            if REAL_TYPE(kind) is str:
                kind = function.__globals__.get(kind, names.get(kind))
            if isinstance(kind, REAL_TYPE):
                return kind
            break
    raise TypeError("register() needs a class: write register(cls), or annotate the first parameter with one")
