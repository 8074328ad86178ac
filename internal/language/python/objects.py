"""What an object really is.

A script's object may say anything about itself. Everything here goes by the type
that the interpreter knows, through descriptors that were taken before any script
came, and by exact values: what a script gives is copied once, and the copy is
what is checked and used.
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

# A key in the namespace of each class that a script has made. No script can write
# it, and so none can ask for it.
MARK = "@script"
MAIN = "__main__"


class RuleViolation(Exception):
    """The rules refuse what a script tried while it ran."""


# In the namespace of each exception that the rules have raised; a script can make
# others of the same class, with words of its own.
FOUND = "@found"


def refuse(rule, reason):
    error = RuleViolation("%s: %s" % (rule, reason))
    error.__dict__[FOUND] = rule, reason
    raise error from None


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


def is_class(thing):
    return REAL_TYPE in MRO_OF(REAL_TYPE(thing))


def is_script_class(kind):
    """Whether a class is a script's own; tools are given to it as such."""
    space = DICT_OF(kind)
    return MARK in space or space.get("__module__") == MAIN


def is_a(thing, kind):
    """isinstance, by the real type."""
    return kind in MRO_OF(REAL_TYPE(thing))


def exact(value):
    """A text or number without what a class of the script's makes of it."""
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
    """A string as a plain one."""
    if not is_a(value, str):
        raise TypeError("%s must be a string, not %s" % (what, NAME_OF(REAL_TYPE(value))))
    return str.__getitem__(value, slice(None))


def exact_items(value, what):
    """A list or tuple of a script, as a tuple."""
    for kind in list, tuple:
        if is_a(value, kind):
            return tuple(kind.__iter__(value))
    raise TypeError("%s must be a list or a tuple, not %s" % (what, NAME_OF(REAL_TYPE(value))))


def exact_names(keywords):
    """Whether no name of an argument can be taken for another, later."""
    return all(REAL_TYPE(name) is str for name in keywords)


def attributes_of(thing):
    """The real namespace of an object, or None if it has none."""
    try:
        space = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return space if REAL_TYPE(space) is dict else None


def lookup(kind, name):
    """What a class has under a name, as it is kept there."""
    for base in MRO_OF(kind):
        if name in DICT_OF(base):
            return DICT_OF(base)[name]
    return None


def attribute_name(name, what):
    """The name of an attribute that the library will make: one that a script could
    have written out, and that leads nowhere."""
    name = exact_text(name, what)
    if not name.isidentifier() or not matchable(name) or name in KEYWORDS:
        refuse("attribute-by-string", "%s cannot be %.100r" % (what, name))
    return name


KEYWORDS = frozenset(__import__("keyword").kwlist)


def in_module(name):
    """For a class of ours that stands for one of a module."""
    def decorate(kind):
        kind.__module__ = name
        return kind

    return decorate
