"""Enumerations. The library's own classes ask each value what it is, and hand out their
tables. These use real types, and keep their tables under names that no script can write."""

MEMBERS, VALUES, DATA, BOUNDARY = "@members", "@values", "@data", "@boundary"
NEW_TEXT = sys.version_info >= (3, 11)  # str() of an IntEnum is that of the number
NEW_FORMAT = sys.version_info >= (3, 12)
NO_NESTED = sys.version_info >= (3, 13)  # a nested class is not a member
HOOKS = words("_missing_ _generate_next_value_ _ignore_ _order_ __order__")


@in_module("enum")
class auto:
    """Stands for the next value."""

    def __repr__(self):
        return "auto()"


class _Wrapped:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


@in_module("enum")
class member(_Wrapped):
    __slots__ = ()


@in_module("enum")
class nonmember(_Wrapped):
    __slots__ = ()


def is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" != name[1] and name[-2] != "_"


def is_descriptor(value):
    kind = REAL_TYPE(value)
    if REAL_TYPE in MRO_OF(kind):
        return NO_NESTED
    return any(lookup(kind, name) is not None for name in ("__get__", "__set__", "__delete__"))


class EnumSpace(dict):
    """The namespace of an enumeration while its body runs. It collects the members, and
    makes the values of auto()."""

    @classmethod
    def prepare(cls, name, bases, /, **keywords):
        space = cls()
        space.owner, space.members, space.ignored = "_%s__" % name.lstrip("_"), {}, ()
        space.next = next_value_of(bases)
        return space

    def __setitem__(self, name, value):
        if is_dunder(name) and name not in HOOKS:
            return dict.__setitem__(self, name, value)
        if is_sunder(name) or name == "__order__":
            return self.hook(name, value)
        if name in self.members:
            raise TypeError("%r already defined as %r" % (name, self.members[name]))
        kind = REAL_TYPE(value)
        if kind is nonmember:
            return dict.__setitem__(self, name, value.value)
        if kind is member:
            value = value.value
        elif is_descriptor(value) or name.startswith(self.owner) or name in self.ignored:
            return dict.__setitem__(self, name, value)
        if name in self:
            raise TypeError("%r already defined as %r" % (name, self[name]))
        if name == "mro":
            raise ValueError("invalid enum member name: 'mro'")
        value = self.counted(name, value)
        self.members[name] = value
        return dict.__setitem__(self, name, value)

    def hook(self, name, value):
        if name not in HOOKS:
            raise ValueError("_sunder_ names, such as %r, are reserved" % name)
        if name == "_ignore_":
            value = value.replace(",", " ").split() if REAL_TYPE(value) is str else exact_items(value, "_ignore_")
            self.ignored = tuple(exact_text(n, "a name in _ignore_") for n in value)
            return None
        if name in ("_order_", "__order__"):
            return None
        if name == "_generate_next_value_":
            self.next = INSIDE_STATIC_METHOD(value) if REAL_TYPE(value) is staticmethod else value
            value = staticmethod(self.next)
        return dict.__setitem__(self, name, value)

    def counted(self, name, value):
        if REAL_TYPE(value) is auto:
            return self.next(name, 1, len(self.members), list(self.members.values()))
        if REAL_TYPE(value) is tuple and any(REAL_TYPE(part) is auto for part in value):
            return tuple(self.counted(name, part) for part in value)
        return value


def next_value_of(bases):
    for base in bases:
        found = lookup(base, "_generate_next_value_")
        if found is not None:
            return INSIDE_STATIC_METHOD(found) if REAL_TYPE(found) is staticmethod else found
    return None


class EnumType(REAL_TYPE):
    """The metaclass of every enumeration. Scripts cannot reach it."""

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if names is None:
            if not table_of(cls, MEMBERS) and REAL_TYPE(value) is str and not is_script_class(cls):
                raise TypeError("%s needs the names of its members" % NAME_OF(cls))
            return member_of(cls, value)
        return functional(cls, value, names, type, start)

    def __iter__(cls):
        return iter(canonical(cls))

    def __reversed__(cls):
        return reversed(canonical(cls))

    def __len__(cls):
        return len(canonical(cls))

    def __bool__(cls):
        return True

    def __contains__(cls, value):
        if REAL_TYPE(REAL_TYPE(value)) is EnumType:
            return any(value is found for found in table_of(cls, MEMBERS).values())
        return known_member(cls, value) is not None

    def __getitem__(cls, name):
        return table_of(cls, MEMBERS)[name]

    @property
    def __members__(cls):
        return dict(table_of(cls, MEMBERS))

    def __setattr__(cls, name, value):
        if name in table_of(cls, MEMBERS):
            raise AttributeError("cannot reassign member %r" % name)
        REAL_TYPE.__setattr__(cls, name, value)

    def __delattr__(cls, name):
        if name in table_of(cls, MEMBERS):
            raise AttributeError("cannot delete member %r" % name)
        REAL_TYPE.__delattr__(cls, name)

    def __repr__(cls):
        return "<%s '%s'>" % ("flag" if NEW_TEXT and Flag in MRO_OF(cls) else "enum", NAME_OF(cls))


def table_of(cls, name):
    return DICT_OF(cls).get(name) or {}


def canonical(cls):
    """Returns the members without aliases; of flags, those with one bit."""
    members = []
    for name, found in table_of(cls, MEMBERS).items():
        if found._name_ == name and not any(found is other for other in members):
            if Flag not in MRO_OF(cls) or not NEW_TEXT or is_single(found._value_):
                members.append(found)
    return members


def is_single(value):
    return REAL_TYPE(value) is int and value > 0 and not value & value - 1


def known_member(cls, value):
    """Returns the member with a value. Values are only compared with each other."""
    try:
        return table_of(cls, VALUES).get(value)
    except TypeError:  # the value cannot be hashed
        for found in table_of(cls, MEMBERS).values():
            if found._value_ == value:
                return found
    return None


def member_of(cls, value):
    if REAL_TYPE(value) is cls:
        return value
    found = known_member(cls, value)
    if found is None and Flag in MRO_OF(cls) and is_a(value, int) and DATA in DICT_OF(cls):
        found = combined(cls, exact(value))
    if found is None:
        missing = lookup(cls, "_missing_")
        if missing is not None:
            found = missing.__get__(None, cls)(value)
        if found is None or not is_a(found, cls):
            error = ValueError("%r is not a valid %s" % (value, getattr(cls, "__qualname__")))
            if found is not None:
                raise TypeError("error in %s._missing_: returned %r instead of None or a valid member" % (NAME_OF(cls), found))
            raise error
    return found


def functional(cls, name, names, data, start):
    """Enum("Color", "RED GREEN")."""
    name = attribute_name(name, "the name of an enumeration")
    bases = (cls,) if data is None else (data, cls)
    space = EnumSpace.prepare(name, bases)
    if is_a(names, str):
        names = exact(names).replace(",", " ").split()
    elif is_a(names, dict):
        names = list(dict.items(names))
    else:
        names = list(names)
    values = []
    for n in names:
        if is_a(n, str):
            value = space.next(exact(n), exact(start), len(values), list(values))
        else:
            n, value = exact_items(n, "a member")
        space[attribute_name(n, "a member")] = value
        values.append(value)
    space["__module__"], space["__qualname__"] = MAIN, name
    return ENUM_BUILDER[0](name, bases, space, {})


ENUM_BUILDER = []  # filled by the guards: makes an enumeration by the rules of classes


def data_type(bases):
    """Returns the class that makes the values: int in (int, Enum)."""
    for base in bases:
        if REAL_TYPE(base) is EnumType:
            if DICT_OF(base).get(DATA, object) is not object:
                return DICT_OF(base)[DATA]
            continue
        for kind in MRO_OF(base):
            if kind is not object and (not is_script_class(kind) or "__new__" in DICT_OF(kind)):
                return base
    return object


def make_enumeration(name, bases, space, keywords):
    """Makes the class and its members. The namespace has been checked."""
    members, boundary = space.pop("@raw"), keywords.pop("boundary", None)
    for base in bases:
        if table_of(base, MEMBERS):
            raise TypeError("%s cannot extend %r" % (name, base))
    for key in members:
        space.pop(key, None)
    space[DATA], space[MEMBERS], space[VALUES] = data_type(bases), {}, {}
    space[BOUNDARY] = boundary or inherited(bases, BOUNDARY)
    cls = with_methods(REAL_TYPE.__new__(EnumType, name, bases, space, **keywords))
    for key, value in members.items():
        add_member(cls, key, value)
    return cls


def with_methods(cls):
    """Adds Enum's own methods where one of the data type would come first."""
    data = DICT_OF(cls)[DATA]
    if data is not object:
        first = [base for base in MRO_OF(cls)[1:] if REAL_TYPE(base) is EnumType][0]
        for name in OWN_METHODS:
            found = lookup(first, name)
            if found is not None and name not in DICT_OF(cls) and lookup(cls, name) is lookup(data, name) and found is not lookup(cls, name):
                REAL_TYPE.__setattr__(cls, name, found)
    return cls


OWN_METHODS = words("__repr__ __str__ __format__ __or__ __and__ __xor__ __ror__ __rand__ __rxor__ __invert__")


def inherited(bases, name):
    for base in bases:
        found = lookup(base, name)
        if found is not None:
            return found
    return None


def add_member(cls, name, value):
    made = new_member(cls, value)
    space = attributes_of(made)
    known = known_member(cls, space["_value_"])
    if known is None:
        known = made
        space["_name_"] = name
        initialize = lookup(cls, "__init__")
        if REAL_TYPE(initialize) is FUNCTION:
            initialize(made, *(value if REAL_TYPE(value) is tuple else (value,)))
        try:
            DICT_OF(cls)[VALUES].setdefault(space["_value_"], made)
        except TypeError:
            pass
    DICT_OF(cls)[MEMBERS][name] = known
    if REAL_TYPE(lookup(cls, name)) is not EnumProperty:
        REAL_TYPE.__setattr__(cls, name, known)


def new_member(cls, value):
    data, new = DICT_OF(cls)[DATA], own_new(cls)
    args = value if REAL_TYPE(value) is tuple else (value,)
    if data is tuple:
        args = (args,)
    if new is not None:
        made = new(cls, *args)
        if REAL_TYPE(made) is not cls:
            raise TypeError("__new__ of an enumeration must return a member")
    else:
        made = object.__new__(cls) if data is object else data.__new__(cls, *args)
    space = attributes_of(made)
    if "_value_" not in space:
        space["_value_"] = value if data is object else data(*args)
    return made


def own_new(cls):
    """Returns the script's __new__, of the class or of a mixin."""
    for base in MRO_OF(cls):
        if "__new__" in DICT_OF(base):
            new = DICT_OF(base)["__new__"]
            new = INSIDE_STATIC_METHOD(new) if REAL_TYPE(new) is staticmethod else new
            return new if REAL_TYPE(new) is FUNCTION and is_script_class(base) else None
    return None


class EnumProperty(property):
    """An attribute of members whose name a member may also have."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, thing, owner=None):
        if thing is not None:
            return property.__get__(self, thing, owner)
        found = table_of(owner, MEMBERS).get(self.name)
        if found is None:
            raise AttributeError("%r has no attribute %r" % (owner, self.name))
        return found


def enumeration(name, bases, /, **space):
    space.update({"__module__": "enum", "__qualname__": name, DATA: data_type(bases), MEMBERS: {}, VALUES: {}})
    return with_methods(REAL_TYPE.__new__(EnumType, name, bases, space))


def enum_repr(self):
    return "<%s.%s: %r>" % (NAME_OF(REAL_TYPE(self)), self._name_, self._value_)


def enum_str(self):
    return "%s.%s" % (NAME_OF(REAL_TYPE(self)), self._name_)


def enum_format(self, spec, /):
    kind = REAL_TYPE(self)
    data = DICT_OF(kind)[DATA]
    if data is object or NEW_FORMAT or lookup(kind, "__str__") is not enum_str:
        return str.__format__(str(self), spec)
    return data.__format__(self._value_, spec)


def next_number(name, start, count, last_values):
    numbers = [exact(value) for value in last_values if is_a(value, int)]
    if numbers:
        return max(numbers) + 1
    for value in reversed(last_values):
        try:
            return value + 1
        except TypeError:
            pass
    return start


def next_bit(name, start, count, last_values):
    numbers = [exact(value) for value in last_values if is_a(value, int)]
    return 1 << max(numbers).bit_length() if numbers and max(numbers) > 0 else start if start is not None else 1


Enum = enumeration(
    "Enum", (), __repr__=enum_repr, __str__=enum_str, __format__=enum_format,
    __hash__=lambda self: hash(self._name_), name=EnumProperty(lambda self: self._name_), value=EnumProperty(lambda self: self._value_),
    _generate_next_value_=staticmethod(next_number),
)
IntEnum = enumeration("IntEnum", (int, Enum), **(
    {"__str__": int.__repr__, "__format__": int.__format__} if NEW_TEXT else {"__format__": int.__format__}))
ReprEnum = enumeration("ReprEnum", (Enum,))


StrEnum = enumeration(
    "StrEnum", (str, ReprEnum), __str__=str.__str__, __format__=str.__format__,
    _generate_next_value_=staticmethod(lambda name, start, count, last_values: name.lower()),
)
