"""The real types of objects.

A script's object may claim anything about itself. Everything here uses the type that the
interpreter knows, through descriptors that were taken before any script ran, and exact
values: what a script passes is copied once, and the copy is what is checked and used.
"""
import types

REAL_TYPE = type
FUNCTION = types.FunctionType
DICT_OF = REAL_TYPE.__dict__["__dict__"].__get__  # of a class, whatever its metaclass says
MRO_OF = REAL_TYPE.__dict__["__mro__"].__get__
NAME_OF = REAL_TYPE.__dict__["__name__"].__get__
GLOBALS_OF = FUNCTION.__dict__["__globals__"].__get__
INSIDE_CLASS_METHOD = classmethod.__dict__["__func__"].__get__
INSIDE_STATIC_METHOD = staticmethod.__dict__["__func__"].__get__
GENERIC_ALIAS = types.GenericAlias
ORIGIN_OF_ALIAS = GENERIC_ALIAS.__dict__["__origin__"].__get__
ARGS_OF_ALIAS = GENERIC_ALIAS.__dict__["__args__"].__get__
UNION = getattr(types, "UnionType", None)  # since 3.10
ARGS_OF_UNION = UNION and UNION.__dict__["__args__"].__get__
LRU_CACHE = __import__("_functools")._lru_cache_wrapper

# A key in the namespace of each class that a script made. No script can write this name, so
# none can look for it.
MARK = "@script"
MAIN = "__main__"


class RuleViolation(Exception):
    """Raised when the rules refuse an action at run time."""


# Marks exceptions that the rules raised. A script can make others of the same class, with its
# own text.
FOUND = "@found"


def refuse(rule, reason):
    error = RuleViolation("%s: %s" % (rule, reason))
    error.__dict__[FOUND] = rule, reason
    raise error from None


class module:
    """A facade. Its class has no method that could change it, and it has no name: by its
    name the interpreter would find the submodules of the real module."""

    def __setattr__(self, name, value):
        refuse("shared-object", "a module cannot be changed")

    def __delattr__(self, name):
        refuse("shared-object", "a module cannot be changed")

    def __repr__(self):
        return "<module>"


def is_class(thing):
    return REAL_TYPE in MRO_OF(REAL_TYPE(thing))


def is_script_class(kind):
    """Whether a class belongs to the script. The classes of tools count as such."""
    space = DICT_OF(kind)
    return MARK in space or space.get("__module__") == MAIN


def is_a(thing, kind):
    """Like isinstance, by the real type."""
    return kind in MRO_OF(REAL_TYPE(thing))


def exact(value):
    """Returns a plain text or number from an instance of a script's subclass."""
    kind = REAL_TYPE(value)
    if kind in (str, bytes, int, bool):
        return value
    bases = MRO_OF(kind)
    if int in bases:
        return int.__index__(value)
    for plain in str, bytes, bytearray:
        if plain in bases:
            return plain.__getitem__(value, slice(None))
    return value


def exact_text(value, what):
    """Returns a plain copy of a string."""
    if not is_a(value, str):
        raise TypeError("%s must be a string, not %s" % (what, NAME_OF(REAL_TYPE(value))))
    return str.__getitem__(value, slice(None))


def exact_items(value, what):
    """Returns a list or tuple of a script as a plain tuple."""
    for kind in list, tuple:
        if is_a(value, kind):
            return tuple(kind.__iter__(value))
    raise TypeError("%s must be a list or a tuple, not %s" % (what, NAME_OF(REAL_TYPE(value))))


def exact_names(keywords):
    """Whether all argument names are plain strings, which cannot change later."""
    return all(REAL_TYPE(name) is str for name in keywords)


def attributes_of(thing):
    """Returns the real namespace of an object, or None."""
    try:
        space = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return space if REAL_TYPE(space) is dict else None


def lookup(kind, name):
    """Returns the raw value of a class attribute."""
    for base in MRO_OF(kind):
        if name in DICT_OF(base):
            return DICT_OF(base)[name]
    return None


def attribute_name(name, what):
    """Checks the name of an attribute that the library will make. A script could have
    written it out, and it gives access to nothing else."""
    name = exact_text(name, what)
    if not name.isidentifier() or not matchable(name) or name in KEYWORDS:
        refuse("attribute-by-string", "%s cannot be %.100r" % (what, name))
    return name


KEYWORDS = frozenset(__import__("keyword").kwlist)


def in_module(name):
    """Decorates a class of ours that replaces one of a module."""
    def decorate(kind):
        kind.__module__ = name
        return kind

    return decorate
