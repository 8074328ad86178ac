"""Every class of a script is made here.

The interpreter and its library ask objects for special attributes and trust the answers.
This file decides which of them a script may define. It checks once, when a class is made:

  - A base is a class, recognized by its real type. __mro_entries__ is never called.
  - A class of the library is final, unless it is listed as open (shown.py).
  - A private method of the library is not overridden.
  - A special method is a function, so that nothing else can be called through it with more
    than a function gets.
  - __getattr__ and __getattribute__ are never asked for special names: an object cannot
    lie about its class, its bases, its annotations or its __dict__.
"""

# Names that the compiler itself puts into the namespace of a class.
BY_COMPILER = words("""
    __module__ __qualname__ __annotations__ __classcell__ __classdictcell__ __firstlineno__
    __static_attributes__ __type_params__ __annotate__ __annotate_func__ __conditional_annotations__
    __annotations_cache__ __orig_bases__
""")

CLASS_METHODS = words("__init_subclass__ __class_getitem__ __subclasshook__")

# Methods of the library may serve as special methods: __hash__ = object.__hash__.
LIBRARY_METHODS = frozenset((
    types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType,
))

# Builtin classes that a script may inherit from, besides all exceptions.
OPEN_BUILTINS = frozenset((object, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset))


class Mark:
    """The first entry in the namespace of each class: it learns of the new class before any
    code of the script does."""

    def __init__(self, tell):
        self.tell = tell

    def __set_name__(self, owner, name):
        self.tell(owner)


class Builder:
    """Makes the classes of scripts."""

    def build_class(self, body, name, /, *bases, **keywords):
        if not exact_names(keywords):
            refuse("metaclass", "a metaclass is not allowed")
        bases = self.real_bases(bases)
        if "metaclass" in keywords:
            if keywords.pop("metaclass") is not ABC_META:
                refuse("metaclass", "a metaclass is not allowed")
            bases = self.with_base(bases, ABC_BASE)
        maker = self.maker(bases)

        def make(name, bases, space, /, **keywords):
            return maker(name, bases, space, keywords)

        make.__prepare__ = EnumSpace.prepare if maker == self.make_enum else lambda name, bases, /, **keywords: {}
        return builtins.__build_class__(body, name, *bases, metaclass=make, **keywords)

    def maker(self, bases):
        if any(REAL_TYPE(base) is EnumType for base in bases):
            return self.make_enum
        if NAMED_TUPLE in bases:
            return self.make_named_tuple
        if any(TYPED_DICT in MRO_OF(base) for base in bases):
            return self.make_typed_dict
        if PROTOCOL_BASE in bases:
            return self.make_protocol
        return self.make_class

    # ---- bases

    def real_bases(self, given):
        """Returns the classes behind the bases that a class statement names."""
        bases = []
        for base in given:
            base = self.real_base(base)
            if base not in bases:
                bases.append(base)
        for general in GENERIC_BASES:  # typing leaves them out too
            if general in bases and any(general in MRO_OF(base)[1:] for base in bases):
                bases.remove(general)
        self.check_patterns(dict.fromkeys(kind for base in bases for kind in MRO_OF(base)))
        return tuple(bases)

    def real_base(self, base):
        if not is_class(base):
            if REAL_TYPE(base) is GENERIC_ALIAS:
                return self.real_base(ORIGIN_OF_ALIAS(base))
            base = base_of_form(base)
            if base is None:
                refuse("base-class", "a base must resolve to a class")
        if base is REAL_TYPE or base is ANY_TYPE or REAL_TYPE in MRO_OF(base):
            refuse("metaclass", "a metaclass is not allowed")
        if not self.is_open(base):
            refuse("base-class", "the class %s cannot be a base" % NAME_OF(base))
        return base

    def is_open(self, base):
        if is_script_class(base) or base in OPEN_BUILTINS or base in self.open:
            return True
        return BaseException in MRO_OF(base) and not NAME_OF(base).endswith("Group")

    def with_base(self, bases, base):
        return bases if any(base in MRO_OF(b) for b in bases) else bases + (base,)

    # ---- kinds of classes

    def make_class(self, name, bases, space, keywords):
        return new_class(self.metaclass_of(bases), name, bases, self.checked_space(bases, space), keywords)

    def metaclass_of(self, bases):
        found = REAL_TYPE
        for base in bases:
            kind = REAL_TYPE(base)
            if found in MRO_OF(kind):
                found = kind
            elif kind not in MRO_OF(found):
                raise TypeError("the bases of a class have conflicting metaclasses")
        return found

    def own_class(self, made):
        """Remembers a class of the script that inherits private attributes of the
        library."""
        if any(base in self.private_bases for base in MRO_OF(made)[1:]):
            self.kinds.add(made)
            self.added.append(made)

    # ---- the namespace

    def checked_space(self, bases, space):
        """Returns the namespace of a class with the entries that are allowed."""
        known = [DICT_OF(kind) for base in bases for kind in MRO_OF(base) if not is_script_class(kind)]
        checked = {MARK: Mark(self.own_class)}
        for name, value in space.items():
            if is_dunder(name):
                value = self.special_value(name, value, bases)
            elif name.startswith("_") and name not in OFFERED and any(name in kept for kept in known):
                refuse("private-attribute", "the attribute '%s' is private to the library" % name)
            checked[name] = value
        return checked

    def special_value(self, name, value, bases=()):
        if name in BY_COMPILER or name in MODULE_NAMES and name != "__doc__":
            return value
        if name == "__doc__":
            return exact(value) if is_a(value, str) else None
        if name == "__slots__":
            return self.slots(value)
        if name == "__match_args__":
            if REAL_TYPE(value) is not tuple:
                refuse("match-args", "__match_args__ must be a tuple of strings")
            return value
        if name not in NAMEABLE:
            refuse("dunder-name", "the name '%s' belongs to the interpreter" % name)
        return self.special_method(name, value, bases)

    def slots(self, value):
        """Checks __slots__, which turns strings into attributes."""
        if is_a(value, str):
            value = [value]
        elif is_a(value, dict):
            value = list(dict.keys(value))
        else:
            value = list(value)
        names = tuple(exact_text(name, "a name in __slots__") for name in value)
        for name in names:
            if not name.isidentifier() or not matchable(name) and name not in ("__dict__", "__weakref__"):
                refuse("attribute-by-string", "__slots__ cannot have the name %.100r" % name)
        return names

    def special_method(self, name, value, bases):
        kind = REAL_TYPE(value)
        function = value
        if kind is classmethod:
            function = INSIDE_CLASS_METHOD(value)
        elif kind is staticmethod:
            function = INSIDE_STATIC_METHOD(value)
        if REAL_TYPE(function) is FUNCTION:
            function = self.special_function(name, function, bases)
            if name in CLASS_METHODS or kind is classmethod:
                return classmethod(function)
            return staticmethod(function) if kind is staticmethod else function
        if value is None or kind in LIBRARY_METHODS:
            return value
        if kind in BINDERS:
            return bound_by_call(value, self.arrived if name in ARRIVALS else None)
        if kind is property and name in DESCRIPTIVE:
            return value
        refuse("special-method", "%s must be a function" % name)

    def special_function(self, name, function, bases):
        if self.is_library_function(function):
            return function
        if name in ARRIVALS and function.__code__.co_name not in ARRIVALS:  # those check their arguments already
            function = checking(self.arrived, function)
        if name == "__getattr__":
            return answering(function)
        if name == "__getattribute__":
            return answering_all(function)
        if name == "__subclasshook__":
            library = [kind for base in bases for kind in MRO_OF(base) if not is_script_class(kind)]
            return judging(function, self.is_shown_class, not set(library) <= {object, ABC_BASE})
        return function


def new_class(metaclass, name, bases, space, keywords):
    """Makes a class with any keywords: before 3.11, ABCMeta has its own parameters called
    name and bases."""
    made = REAL_TYPE.__new__(metaclass, name, bases, space, **keywords)
    if ABCMeta in MRO_OF(metaclass):
        _abc._abc_init(made)
    return made


def checking(arrived, function):
    def method(*args, **kwargs):
        for arg in args[1:]:
            arrived(arg)
        return function(*args, **kwargs)

    return method


def answering(function):
    def __getattr__(self, name, /):
        if REAL_TYPE(name) is not str or is_dunder(name):
            raise AttributeError("'%s' object has no attribute '%s'" % (NAME_OF(REAL_TYPE(self)), name))
        return function(self, name)

    return __getattr__


def answering_all(function):
    def __getattribute__(self, name, /):
        if REAL_TYPE(name) is not str or is_dunder(name):
            return object.__getattribute__(self, name)
        return function(self, name)

    return __getattribute__


def judging(function, is_shown, inherits):
    """Wraps __subclasshook__. The library also asks a class about its own classes, and
    caches the answers for everybody."""
    def __subclasshook__(cls, other, /):
        if not is_script_class(other) and (inherits or not is_shown(other)):
            return NotImplemented
        return function(cls, other)

    return __subclasshook__


def bound_by_call(value, arrived):
    """Makes a special method from an object that is not a function but binds like one."""
    bind = lookup(REAL_TYPE(value), "__get__")

    def method(self, /, *args, **kwargs):
        if arrived is not None:
            for arg in args:
                arrived(arg)
        return bind(value, self, REAL_TYPE(self))(*args, **kwargs)

    return method
