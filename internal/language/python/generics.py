"""Replacement for typing. Annotations are read by people and type checkers, and hardly ever
by a program, so forms and their aliases are inert here. They remember their arguments, call
nothing on them, and share nothing."""
import _abc
import _collections_abc

from abc import ABC as ABC_BASE
from abc import ABCMeta

ABC_META = object()  # represents the metaclass, which scripts cannot get


class Form:
    """List, Optional, Any and others; with arguments, an alias."""

    __slots__ = ("_form", "_origin", "_args")

    def __init__(self, form, origin=None, args=None):
        self._form, self._origin, self._args = form, origin, args

    def __getitem__(self, args):
        args = args if REAL_TYPE(args) is tuple else (args,)
        if self._form == "Optional":
            return union(args + (None,))
        if self._form == "Union":
            return union(args)
        if self._form == "Annotated" and self._args is None and len(args) < 2:
            raise TypeError("Annotated[...] should be used with at least two arguments (a type and an annotation).")
        if self._form in BARE:
            raise TypeError("typing.%s is not subscriptable" % self._form)
        return Form(self._form, self._origin, args)

    def __or__(self, other):
        return union((self, other))

    def __ror__(self, other):
        return union((other, self))

    def __call__(self, *args, **kwargs):
        if self._origin is None or self._form in UNCALLABLE:
            raise TypeError("Cannot instantiate %r" % self)
        return self._origin(*args, **kwargs)

    def __instancecheck__(self, thing):
        return isinstance(thing, self._checked())

    def __subclasscheck__(self, kind):
        return issubclass(kind, self._checked())

    def _checked(self):
        if self._form == "Union" and self._args is not None:
            return self._args
        if self._origin is None or self._args is not None:
            raise TypeError("%r cannot be used with isinstance()" % self)
        return self._origin

    def __iter__(self):
        yield Form("Unpack", None, (self,))  # *Ts

    def __eq__(self, other):
        if REAL_TYPE(other) is not Form:
            return NotImplemented
        if (self._form, self._origin) != (other._form, other._origin):
            return False
        if self._form in ("Union", "Literal") and self._args is not None and other._args is not None:
            return frozenset(self._args) == frozenset(other._args)
        return self._args == other._args

    def __hash__(self):
        return hash((self._form, frozenset(self._args) if self._form in ("Union", "Literal") and self._args else self._args))

    def __repr__(self):
        if self._args is None:
            return "typing." + self._form
        args = self._args
        if self._form == "Union" and len(args) == 2 and NoneType in args:
            return "typing.Optional[%s]" % shown_type(args[0] if args[1] is NoneType else args[1])
        if self._form == "Callable" and len(args) == 2:
            taken = "..." if args[0] is ... else shown_type(args[0])
            return "typing.Callable[%s, %s]" % (taken, shown_type(args[1]))
        show = repr if self._form == "Literal" else shown_type
        return "typing.%s[%s]" % (self._form, ", ".join(map(show, args)))


NoneType = REAL_TYPE(None)
BARE = words("Any NoReturn Never Self LiteralString TypeAlias TypedDict NamedTuple")
UNCALLABLE = words("Union Optional Callable Type Generic Protocol")


def shown_type(thing):
    if thing is None or thing is NoneType:
        return "None"
    if REAL_TYPE(thing) is list:
        return "[%s]" % ", ".join(map(shown_type, thing))
    if is_class(thing):
        home = DICT_OF(thing).get("__module__", "builtins")
        return NAME_OF(thing) if home == "builtins" else "%s.%s" % (home, thing.__qualname__)
    return "..." if thing is ... else repr(thing)


def union(parts):
    """Returns the union of types, each once, compared by identity."""
    found = []
    for part in parts:
        if part is None:
            part = NoneType
        inner = part._args if REAL_TYPE(part) is Form and part._form == "Union" and part._args else (part,)
        if UNION is not None and REAL_TYPE(part) is UNION:
            inner = ARGS_OF_UNION(part)
        for one in inner:
            if not any(one is other or REAL_TYPE(one) is REAL_TYPE(other) is Form and one == other for other in found):
                found.append(one)
    return found[0] if len(found) == 1 else Form("Union", None, tuple(found))


class _Variable:
    """A type variable. The interpreter recognizes it by these names."""

    __slots__ = ("__name__", "__dict__")
    _sign = "~"

    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False, infer_variance=False, default=None):
        self.__name__ = exact_text(name, "the name of a type variable")
        if covariant:
            self._sign = "+"
        elif contravariant:
            self._sign = "-"

    def __typing_subst__(self, arg):
        return arg

    def __or__(self, other):
        return union((self, other))

    def __ror__(self, other):
        return union((other, self))

    def __iter__(self):
        yield Form("Unpack", None, (self,))

    def __repr__(self):
        return self._sign + self.__name__

    @property
    def args(self):
        return Form(self.__name__ + ".args")

    @property
    def kwargs(self):
        return Form(self.__name__ + ".kwargs")


@in_module("typing")
class TypeVar(_Variable):
    __slots__ = ()


@in_module("typing")
class ParamSpec(_Variable):
    __slots__ = ()


@in_module("typing")
class TypeVarTuple(_Variable):
    __slots__ = ()
    _sign = ""


@in_module("typing")
class NewType:
    """A name for a type; calling it returns the argument."""

    def __init__(self, name, tp):
        self.__name__ = self.__qualname__ = exact_text(name, "the name of a type")

    def __call__(self, value, /):
        return value

    def __or__(self, other):
        return union((self, other))

    def __ror__(self, other):
        return union((other, self))

    def __repr__(self):
        return "%s.%s" % (MAIN, self.__name__)


def alias_of_class(cls, params):
    return GENERIC_ALIAS(cls, params)


@in_module("typing")
class Generic:
    __slots__ = ()
    __class_getitem__ = classmethod(alias_of_class)


# These do not count as members of a protocol.
NO_MEMBERS = words("""
    __module__ __qualname__ __doc__ __annotations__ __dict__ __weakref__ __slots__ __init__ __new__ __hash__
    __subclasshook__ __abstractmethods__ __classcell__ __firstlineno__ __static_attributes__ __type_params__
    __class_getitem__ __match_args__ __annotate__ __annotate_func__ __annotations_cache__ __orig_bases__ _abc_impl
""")
PROTOCOL_MARK, RUNTIME = "@protocol", "@runtime"


class ProtocolType(ABCMeta):
    """The metaclass of protocols and of classes that inherit from them."""

    def __call__(cls, *args, **kwargs):
        if PROTOCOL_MARK in DICT_OF(cls):
            raise TypeError("Protocols cannot be instantiated")
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, thing):
        if PROTOCOL_MARK not in DICT_OF(cls):
            return super().__instancecheck__(thing)
        if cls in MRO_OF(REAL_TYPE(thing)):
            return True
        if not DICT_OF(cls).get(RUNTIME):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        own = attributes_of(thing) or {}
        return all(name in own or lookup(REAL_TYPE(thing), name) is not None for name in DICT_OF(cls)[PROTOCOL_MARK])

    def __subclasscheck__(cls, kind):
        if PROTOCOL_MARK not in DICT_OF(cls) or not is_class(kind):
            return super().__subclasscheck__(kind)
        if cls in MRO_OF(kind):
            return True
        if not DICT_OF(cls).get(RUNTIME):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        return all(lookup(kind, name) is not None for name in DICT_OF(cls)[PROTOCOL_MARK])


def protocol(name, members, home="typing"):
    space = {"__module__": home, "__slots__": (), PROTOCOL_MARK: frozenset(members), RUNTIME: True}
    return ProtocolType(name, (Generic,), space)


PROTOCOL_BASE = protocol("Protocol", ())
GENERIC_BASES = Generic, PROTOCOL_BASE


def members_of_protocol(bases, space):
    found = {name for name in space if name not in NO_MEMBERS | BY_COMPILER and not name.startswith(("_abc_", "@"))}
    annotations = space.get("__annotations__")
    if REAL_TYPE(annotations) is dict:
        found.update(annotations)
    for base in bases:
        found |= DICT_OF(base).get(PROTOCOL_MARK, frozenset())
    return frozenset(found)


def runtime_checkable(cls):
    if not is_class(cls) or PROTOCOL_MARK not in DICT_OF(cls) or not is_script_class(cls):
        raise TypeError("@runtime_checkable can be only applied to protocol classes")
    REAL_TYPE.__setattr__(cls, RUNTIME, True)
    return cls


class NAMED_TUPLE:
    """Represents NamedTuple among the bases of a class."""


class TYPED_DICT(dict):
    """The base of each TypedDict: calling one returns a plain dict."""

    def __new__(cls, /, *args, **kwargs):
        return dict(*args, **kwargs)


class _Marker(Form):
    """NamedTuple and TypedDict, which can also be called."""

    __slots__ = ("_make",)

    def __init__(self, form, origin, make):
        Form.__init__(self, form, origin)
        self._make = make

    def __call__(self, *args, **kwargs):
        return self._make(*args, **kwargs)


def base_of_form(thing):
    """Returns the class for a form among the bases of a class, or None."""
    kind = REAL_TYPE(thing)
    if kind is Form or kind is _Marker:
        return object if thing._form == "Any" else thing._origin
    real = sys.modules.get("typing")
    if real is not None and kind is real._GenericAlias:  # of class X[T], made by the interpreter
        return Generic if attributes_of(thing).get("__origin__") is real.Generic else None
    return None


def get_origin(tp):
    kind = REAL_TYPE(tp)
    if kind is Form:
        if tp._args is None:
            return Generic if tp._origin is Generic else None
        return tp._origin if tp._origin is not None else FORMS.get(tp._form)
    if kind is GENERIC_ALIAS:
        return without_metaclass(ORIGIN_OF_ALIAS(tp))
    return UNION if UNION is not None and kind is UNION else None


def get_args(tp):
    kind = REAL_TYPE(tp)
    if kind is Form:
        return tuple(map(without_metaclass, tp._args or ()))
    if kind is GENERIC_ALIAS:
        return tuple(map(without_metaclass, ARGS_OF_ALIAS(tp)))
    return tuple(map(without_metaclass, ARGS_OF_UNION(tp))) if UNION is not None and kind is UNION else ()


def overload(function):
    def overloaded(*args, **kwargs):
        raise NotImplementedError("an overloaded function needs an implementation")

    return overloaded


def same(thing, /, *args):
    return thing


def assert_never(arg, /):
    raise AssertionError("Expected code to be unreachable, but got: %.100r" % (arg,))


FORMS = {name: Form(name) for name in """
    Any Union Optional Literal Final ClassVar Annotated Concatenate TypeAlias TypeGuard TypeIs Self Never NoReturn
    LiteralString Required NotRequired ReadOnly Unpack IO TextIO BinaryIO
""".split()}
FORMS.update((name, Form(name, origin)) for name, origin in dict(
    List=list, Dict=dict, Set=set, FrozenSet=frozenset, Tuple=tuple, AbstractSet=_collections_abc.Set,
    **{name: getattr(_collections_abc, name) for name in """
        Iterable Iterator Generator Sequence MutableSequence Mapping MutableMapping MutableSet Collection Container
        Hashable Sized Callable Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Reversible ByteString
        KeysView ItemsView ValuesView MappingView
    """.split() if hasattr(_collections_abc, name)}
).items())

TYPING = dict(
    FORMS, Generic=Generic, Protocol=PROTOCOL_BASE, TypeVar=TypeVar, ParamSpec=ParamSpec, TypeVarTuple=TypeVarTuple, NewType=NewType,
    Text=str, AnyStr=TypeVar("AnyStr", bytes, str), TYPE_CHECKING=False,
    get_origin=get_origin, get_args=get_args, overload=overload, cast=lambda typ, val: val, final=same, override=same,
    runtime_checkable=runtime_checkable, assert_never=assert_never, assert_type=same, reveal_type=same,
    dataclass_transform=lambda **options: same, no_type_check=same,
    is_typeddict=lambda tp: is_class(tp) and TYPED_DICT in MRO_OF(tp),
    is_protocol=lambda tp: is_class(tp) and PROTOCOL_MARK in DICT_OF(tp) and tp is not PROTOCOL_BASE,
    **{"Supports" + name.title(): protocol("Supports" + name.title(), ["__%s__" % name])
       for name in ("abs", "bytes", "complex", "float", "index", "int", "round")}
)
