"""Enumerations whose members combine, and their verification."""

STRICT, CONFORM, EJECT, KEEP = "strict", "conform", "eject", "keep"


def all_bits(cls):
    found = 0
    for known in table_of(cls, MEMBERS).values():
        if REAL_TYPE(known._value_) is int and known._value_ > 0:
            found |= known._value_
    return found


def combined(cls, value):
    """Returns the member for several bits."""
    boundary, known = lookup(cls, BOUNDARY), all_bits(cls)
    if value < 0:
        value += 1 << max(known.bit_length(), value.bit_length() if boundary == KEEP else 0)
        if value < 0:
            raise ValueError("%r is not a valid %s" % (value, NAME_OF(cls)))
    elif value & ~known:
        if boundary == STRICT:
            raise ValueError("%r is not a valid %s" % (value, NAME_OF(cls)))
        if boundary == EJECT:
            return value
        if boundary == CONFORM:
            value &= known
    found = known_member(cls, value)
    if found is None:
        data = DICT_OF(cls)[DATA]
        found = object.__new__(cls) if data is object else data.__new__(cls, value)
        space = attributes_of(found)
        space["_name_"], space["_value_"] = names_of_bits(cls, value), value
        if is_script_class(cls):
            DICT_OF(cls)[VALUES][value] = found
    return found


def bits_of(cls, value):
    """Returns the members with one bit that are in a value."""
    return [known for known in table_of(cls, MEMBERS).values() if is_single(known._value_) and known._value_ & value]


def names_of_bits(cls, value):
    found, names = 0, []
    for known in sorted(bits_of(cls, value), key=lambda m: m._value_):
        if known._name_ not in names:
            names.append(known._name_)
            found |= known._value_
    if value & ~found and names:
        names.append(str(value & ~found))
    return "|".join(names) if names else None


def operand(self, other):
    """Returns the number of the other operand, if the two can be combined."""
    if REAL_TYPE(other) is REAL_TYPE(self):
        return other._value_
    if int in MRO_OF(REAL_TYPE(self)) and is_a(other, int):
        return exact(other)
    return None


def flag_operator(combine):
    def operate(self, other, /):
        number = operand(self, other)
        return NotImplemented if number is None else member_of(REAL_TYPE(self), combine(self._value_, number))

    return operate


def flag_invert(self):
    cls = REAL_TYPE(self)
    if lookup(cls, BOUNDARY) == KEEP and not NEW_TEXT:
        return member_of(cls, ~self._value_)
    return member_of(cls, all_bits(cls) & ~self._value_)


def flag_contains(self, other):
    if REAL_TYPE(other) is not REAL_TYPE(self):
        number = operand(self, other)
        if number is None:
            raise TypeError("unsupported operand for 'in': %r" % (other,))
        return number & self._value_ == number
    return other._value_ & self._value_ == other._value_


def flag_repr(self):
    name = NAME_OF(REAL_TYPE(self))
    return "<%s: %r>" % (name, self._value_) if self._name_ is None else "<%s.%s: %r>" % (name, self._name_, self._value_)


def flag_str(self):
    name = NAME_OF(REAL_TYPE(self))
    return "%s(%r)" % (name, self._value_) if self._name_ is None else "%s.%s" % (name, self._name_)


OR, AND, XOR = flag_operator(lambda a, b: a | b), flag_operator(lambda a, b: a & b), flag_operator(lambda a, b: a ^ b)
Flag = enumeration("Flag", (Enum,), __or__=OR, __and__=AND, __xor__=XOR, __ror__=OR, __rand__=AND, __rxor__=XOR,
                   __invert__=flag_invert, __contains__=flag_contains, __repr__=flag_repr, __str__=flag_str,
                   __bool__=lambda self: bool(self._value_), __iter__=lambda self: iter(bits_of(REAL_TYPE(self), self._value_)),
                   __len__=lambda self: len(bits_of(REAL_TYPE(self), self._value_)),
                   _generate_next_value_=staticmethod(next_bit), **{BOUNDARY: STRICT})
IntFlag = enumeration("IntFlag", (int, Flag), **dict(
    {"__str__": int.__repr__} if NEW_TEXT else {}, __format__=int.__format__, **{BOUNDARY: KEEP}))


def unique(enumeration):
    aliases = [(alias, known._name_) for alias, known in table_of(enumeration, MEMBERS).items() if alias != known._name_]
    if aliases:
        raise ValueError("duplicate values found in %r: %s" % (enumeration, ", ".join("%s -> %s" % pair for pair in aliases)))
    return enumeration


UNIQUE, CONTINUOUS, NAMED_FLAGS = "one name per value", "no skipped integer values", "multi-flag aliases may not contain unnamed flags"


def verify(*checks):
    def decorate(enumeration):
        if UNIQUE in checks:
            unique(enumeration)
        values = sorted(known._value_ for known in table_of(enumeration, MEMBERS).values() if REAL_TYPE(known._value_) is int)
        if CONTINUOUS in checks and values:
            wanted = set(range(values[0], values[-1] + 1))
            if Flag in MRO_OF(enumeration):
                wanted = {1 << n for n in range(values[0].bit_length() - 1, values[-1].bit_length())}
            if wanted - set(values):
                raise ValueError("invalid %s %r: missing values %s" % (
                    "flag" if Flag in MRO_OF(enumeration) else "enum", NAME_OF(enumeration),
                    ", ".join(map(str, sorted(wanted - set(values))))))
        if NAMED_FLAGS in checks:
            bits = 0
            for value in values:
                bits |= value if is_single(value) else 0
            for name, known in table_of(enumeration, MEMBERS).items():
                if known._value_ & ~bits:
                    raise ValueError("invalid Flag %r: %s" % (NAME_OF(enumeration), name))
        return enumeration

    return decorate


def library_flags(name, home, members, base=None):
    """Makes an enumeration that replaces one of the library, with the same names and
    numbers."""
    base = base or IntFlag
    space = EnumSpace.prepare(name, (base,))
    for key, value in members.items():
        space[key] = value
    space.update({"@raw": space.members, "__module__": home, "__qualname__": name})
    return make_enumeration(name, (base,), dict(space), {})


# What scripts see of enum.
ENUM = {
    "Enum": Enum, "IntEnum": IntEnum, "Flag": Flag, "IntFlag": IntFlag, "ReprEnum": ReprEnum, "StrEnum": StrEnum,
    "auto": auto, "member": member, "nonmember": nonmember, "property": EnumProperty, "unique": unique, "verify": verify,
    "STRICT": STRICT, "CONFORM": CONFORM, "EJECT": EJECT, "KEEP": KEEP,
    "UNIQUE": UNIQUE, "CONTINUOUS": CONTINUOUS, "NAMED_FLAGS": NAMED_FLAGS,
}
