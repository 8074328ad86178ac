"""Data classes and named tuples. They generate source text from names, here only from exact
strings, each of which a script could have written as an attribute."""
import _collections

FIELDS, FROZEN = "@fields", "@frozen"
PLAIN_FIELD, CLASS_VARIABLE, INIT_VARIABLE, KEYWORDS_FOLLOW = "field", "class variable", "init variable", "keywords follow"
ANNOTATIONS_OF_CLASS = REAL_TYPE.__dict__.get("__annotations__")  # since 3.10
GENERATED = {"__builtins__": {}, "__name__": MAIN}  # the globals of generated functions


class _Missing:
    def __repr__(self):
        return "<missing>"


MISSING, KW_ONLY, FROM_FACTORY = _Missing(), _Missing(), _Missing()


@in_module("dataclasses")
class FrozenInstanceError(AttributeError):
    pass


@in_module("dataclasses")
class InitVar:
    __slots__ = ("type",)

    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return cls(type)


@in_module("dataclasses")
class Field:
    __slots__ = ("name", "type", "default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only", "_kind")

    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = self.type = None
        self.default, self.default_factory, self.kw_only = default, default_factory, kw_only
        self.init, self.repr, self.hash, self.compare = bool(init), bool(repr), None if hash is None else bool(hash), bool(compare)
        self.metadata = types.MappingProxyType({} if metadata is None else dict(metadata))
        self._kind = PLAIN_FIELD

    def __repr__(self):
        return "Field(name=%r, type=%r, default=%r)" % (self.name, self.type, self.default)


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING, doc=None):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def annotations_of(cls):
    """Returns the annotations of the class itself."""
    if ANNOTATIONS_OF_CLASS is not None:
        found = ANNOTATIONS_OF_CLASS.__get__(cls)
    else:
        found = DICT_OF(cls).get("__annotations__")
    return dict(found) if REAL_TYPE(found) is dict else {}


def annotations_in(space):
    """Does the same for a class that is being made."""
    found = space.get("__annotations__")
    if found is None:
        annotate = space.get("__annotate_func__", space.get("__annotate__"))  # since 3.14
        found = annotate(1) if REAL_TYPE(annotate) is FUNCTION else None
    return dict(found) if REAL_TYPE(found) is dict else {}


def kind_of_field(annotation):
    if REAL_TYPE(annotation) is str:
        word = annotation.partition("[")[0].rpartition(".")[2].strip()
        return {"ClassVar": CLASS_VARIABLE, "InitVar": INIT_VARIABLE, "KW_ONLY": KEYWORDS_FOLLOW}.get(word, PLAIN_FIELD)
    if REAL_TYPE(annotation) is Form and annotation._form == "ClassVar":
        return CLASS_VARIABLE
    if annotation is InitVar or REAL_TYPE(annotation) is InitVar:
        return INIT_VARIABLE
    return KEYWORDS_FOLLOW if annotation is KW_ONLY else PLAIN_FIELD


def generated(text, **names):
    """Makes a function from source text, with the names that it needs."""
    space = {}
    exec(compile("def make(%s):\n def %s\n return made" % (", ".join(names), text.replace("\n", "\n ")), "<dataclass>", "exec"), GENERATED, space)
    return space["make"](**names)


class Records:
    """Makes data classes and named tuples for a script."""

    def dataclass(self, cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False,
                  match_args=True, kw_only=False, slots=False, weakref_slot=False):
        def decorate(cls):
            if not is_class(cls):
                raise TypeError("dataclass() needs a class")
            self.own(cls)
            return self.make_dataclass(cls, bool(init), bool(repr), bool(eq), bool(order), bool(unsafe_hash), bool(frozen),
                                       bool(match_args), bool(kw_only), bool(slots), bool(weakref_slot))

        return decorate if cls is None else decorate(cls)

    def make_dataclass(self, cls, init, show, eq, order, unsafe_hash, frozen, match_args, kw_only, slots, weakref_slot):
        fields, any_frozen = {}, False
        for base in reversed(MRO_OF(cls)[1:]):
            if FIELDS in DICT_OF(base):
                fields.update(DICT_OF(base)[FIELDS])
                if DICT_OF(base)[FROZEN] != frozen:
                    raise TypeError("cannot inherit %s dataclass from a %s one" % (("non-frozen", "frozen") if any_frozen or DICT_OF(base)[FROZEN] else ("frozen", "non-frozen")))
        own = self.own_fields(cls, kw_only)
        fields.update(own)
        for name in fields:
            self.check_pattern(MRO_OF(cls), name)
        put = REAL_TYPE.__setattr__
        put(cls, FIELDS, fields)
        put(cls, FROZEN, frozen)
        real = [f for f in fields.values() if f._kind is PLAIN_FIELD]
        given = [f for f in fields.values() if f._kind in (PLAIN_FIELD, INIT_VARIABLE)]
        defined = DICT_OF(cls)
        explicit_hash = "__hash__" in defined and not (defined["__hash__"] is None and "__eq__" in defined)
        if init:
            put(cls, "__init__", self.initializer_of(cls, given, frozen, slots))
        if show and "__repr__" not in defined:
            put(cls, "__repr__", shown_fields(tuple(f.name for f in real if f.repr)))
        compared = tuple(f.name for f in real if f.compare)
        if eq and "__eq__" not in defined:
            put(cls, "__eq__", comparison("__eq__", "==", compared))
        if order:
            if not eq:
                raise ValueError("eq must be true if order is true")
            for name, sign in ("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">="):
                if name in defined:
                    raise TypeError("Cannot overwrite attribute %s in class %s. Consider using functools.total_ordering" % (name, NAME_OF(cls)))
                put(cls, name, comparison(name, sign, compared))
        if frozen:
            for name in "__setattr__", "__delattr__":
                if name in defined:
                    raise TypeError("Cannot overwrite attribute %s in class %s" % (name, NAME_OF(cls)))
            freeze(cls, frozenset(f.name for f in real))
        if unsafe_hash or eq and frozen and not explicit_hash:
            put(cls, "__hash__", hashed(tuple(f.name for f in real if (f.compare if f.hash is None else f.hash))))
        elif eq and not frozen and not explicit_hash:
            put(cls, "__hash__", None)
        if match_args and "__match_args__" not in defined:
            put(cls, "__match_args__", tuple(f.name for f in given if f.init and not f.kw_only))
        if defined.get("__doc__") is None:
            put(cls, "__doc__", NAME_OF(cls))
        return self.with_slots(cls, real, weakref_slot) if slots else cls

    def own_fields(self, cls, kw_only):
        """Returns the fields that the class itself declares by annotations."""
        found, keywords = {}, kw_only
        for name, annotation in annotations_of(cls).items():
            name = attribute_name(name, "a field")
            kind = kind_of_field(annotation)
            if kind is KEYWORDS_FOLLOW:
                keywords = True
                continue
            default = DICT_OF(cls).get(name, MISSING)
            if REAL_TYPE(default) is types.MemberDescriptorType:
                default = MISSING
            if REAL_TYPE(default) is Field:
                made = default
                if made.default is MISSING:
                    REAL_TYPE.__delattr__(cls, name)
                else:
                    REAL_TYPE.__setattr__(cls, name, made.default)
            else:
                made = field(default=default if default is MISSING else binding(default, None, cls))
            made.name, made.type, made._kind = name, annotation, kind
            made.kw_only = keywords if made.kw_only is MISSING else bool(made.kw_only)
            if kind is not CLASS_VARIABLE and made.default is not MISSING and lookup(REAL_TYPE(made.default), "__hash__") is None:
                raise ValueError("mutable default %s for field %s is not allowed: use default_factory" % (REAL_TYPE(made.default), name))
            found[name] = made
        for name, value in DICT_OF(cls).items():
            if REAL_TYPE(value) is Field and name not in found:
                raise TypeError("%r is a field but has no type annotation" % name)
        return found

    def initializer_of(self, cls, fields, frozen, slots):
        own = "c_"  # prefix of our own names, which no field has
        while any(f.name.startswith(own) for f in fields):
            own += "_"
        this = own + "self" if any(f.name == "self" for f in fields) else "self"
        names = {own + "type": REAL_TYPE, own + "kinds": self.kinds, own + "own": self.own, own + "set": object.__setattr__, own + "made": FROM_FACTORY}
        positional, keywords, body, after, defaulted = [], [], [], [], None
        for i, f in enumerate(fields):
            value, fallback = f.name, "%sdefault%d" % (own, i)
            if f.default is not MISSING:
                names[fallback] = f.default
            elif f.default_factory is not MISSING:
                names[fallback] = f.default_factory
            if f.init:
                text = f.name
                if f.default is not MISSING:
                    text += "=" + fallback
                elif f.default_factory is not MISSING:
                    text += "=" + own + "made"
                    value = "%s() if %s is %smade else %s" % (fallback, f.name, own, f.name)
                elif not f.kw_only and defaulted is not None:
                    raise TypeError("non-default argument %r follows default argument %r" % (f.name, defaulted))
                if not f.kw_only and text != f.name:
                    defaulted = f.name
                (keywords if f.kw_only else positional).append(text)
            elif f.default_factory is not MISSING:
                value = fallback + "()"
            elif f.default is not MISSING and slots:
                value = fallback
            else:
                continue
            if f._kind is INIT_VARIABLE:
                after.append(f.name)
            else:
                body.append('%sset(%s, "%s", %s)' % (own, this, f.name, value) if frozen else "%s.%s = %s" % (this, f.name, value))
        if lookup(cls, "__post_init__") is not None:
            body.append("%s.__post_init__(%s)" % (this, ", ".join(after)))
        arguments = [this] + positional + (["*"] + keywords if keywords else [])
        guard = "if {0}type({1}) in {0}kinds: {0}own({1})".format(own, this)
        text = "made(%s):\n %s" % (", ".join(arguments), "\n ".join([guard] + body))
        made = generated(text, **names)
        made.__name__, made.__qualname__ = "__init__", cls.__qualname__ + ".__init__"
        return made

    def with_slots(self, cls, fields, weakref_slot):
        """Makes the class again: slots cannot be added to an existing one."""
        if "__slots__" in DICT_OF(cls):
            raise TypeError("%s already specifies __slots__" % NAME_OF(cls))
        inherited = {name for base in MRO_OF(cls)[1:] for name in DICT_OF(base).get("__slots__", ())}
        names = [f.name for f in fields]
        space = {name: value for name, value in DICT_OF(cls).items() if name not in names and name not in ("__dict__", "__weakref__", "_abc_impl")}
        space["__slots__"] = tuple(name for name in names if name not in inherited) + (("__weakref__",) if weakref_slot else ())
        space["__qualname__"] = cls.__qualname__
        return REAL_TYPE(cls)(NAME_OF(cls), cls.__bases__, space)

    # ---- named tuples

    def namedtuple(self, typename, field_names, *, rename=False, defaults=None, module=None):
        if is_a(field_names, str):
            names = exact(field_names).replace(",", " ").split()
        else:
            names = [exact(name) if is_a(name, str) else exact(str(name)) for name in field_names]
        seen = set()
        for i, name in enumerate(names):
            if rename and (not name.isidentifier() or name in KEYWORDS or name.startswith("_") or name in seen):
                names[i] = "_%d" % i
            elif not name.isidentifier() or name in KEYWORDS:
                raise ValueError("Type names and field names must be valid identifiers: %r" % name)
            elif name.startswith("_"):
                raise ValueError("Field names cannot start with an underscore: %r" % name)
            elif name in seen:
                raise ValueError("Encountered duplicate field name: %r" % name)
            seen.add(names[i])
        defaults = () if defaults is None else tuple(defaults)
        if len(defaults) > len(names):
            raise TypeError("Got more default values than field names")
        given = dict(zip(names[len(names) - len(defaults):], defaults))
        return self.tuple_class(attribute_name(typename, "the name of a class"), (tuple,), names, given, {"__module__": MAIN})

    def tuple_class(self, name, bases, names, defaults, more):
        names = tuple(names)
        for n in names:
            if not matchable(n):
                refuse("match-args", "the attribute %.100r cannot be matched" % n)
        arguments = ", ".join("%s=_default_%s" % (n, n) if n in defaults else n for n in names)
        values = "(%s)" % "".join(n + ", " for n in names)
        new = generated("made(_cls%s):\n return _new(_cls, %s)" % (", " + arguments if names else "", values),
                        _new=tuple.__new__, **{"_default_" + n: value for n, value in defaults.items()})
        new.__name__, new.__qualname__ = "__new__", name + ".__new__"

        def _make(cls, iterable):
            made = tuple.__new__(cls, iterable)
            if tuple.__len__(made) != len(names):
                raise TypeError("Expected %d arguments, got %d" % (len(names), tuple.__len__(made)))
            return made

        def _replace(self, /, **kwds):
            made = _make(REAL_TYPE(self), map(kwds.pop, names, tuple.__iter__(self)))
            if kwds:
                raise (TypeError if NO_NESTED else ValueError)("Got unexpected field names: %r" % list(kwds))
            return made

        def _asdict(self):
            return dict(zip(names, tuple.__iter__(self)))

        def show(self):
            return NAME_OF(REAL_TYPE(self)) + "(%s)" % ", ".join("%s=%r" % pair for pair in zip(names, tuple.__iter__(self)))

        space = {
            MARK: Mark(self.own_class), "__qualname__": name, "__slots__": (), "_fields": names, "_field_defaults": dict(defaults),
            "__new__": staticmethod(new), "_make": classmethod(_make), "_replace": _replace, "_asdict": _asdict, "__repr__": show,
            "__replace__": _replace, "__match_args__": names, "__doc__": "%s(%s)" % (name, ", ".join(names)),
        }
        space.update((n, _collections._tuplegetter(i, "Alias for field number %d" % i)) for i, n in enumerate(names))
        space.update(more)
        return self.metaclass_of(bases)(name, bases, space)

    def make_named_tuple(self, name, bases, space, keywords):
        """class X(NamedTuple)."""
        others = tuple(base for base in bases if base is not NAMED_TUPLE)
        if any(base is not Generic for base in others):
            raise TypeError("Multiple inheritance with NamedTuple is not supported")
        names = list(annotations_in(space))
        defaults = {}
        for n in names:
            attribute_name(n, "a field")
            if n.startswith("_"):
                raise ValueError("Field names cannot start with an underscore: %r" % n)
            if n in space:
                defaults[n] = space.pop(n)
            elif defaults:
                raise TypeError("Non-default namedtuple field %s cannot follow default field %s" % (n, list(defaults)[-1]))
        for taken in "__new__", "__init__", "__slots__", "_fields", "_field_defaults", "_make", "_replace", "_asdict":
            if taken in space:
                raise AttributeError("Cannot overwrite NamedTuple attribute " + taken)
        more = self.checked_space((tuple,), space)
        del more[MARK]
        return self.tuple_class(name, (tuple,) + others, names, defaults, more)

    def named_tuple(self, typename, fields=(), /, **more):
        """NamedTuple("Point", [("x", int)])."""
        pairs = [exact_items(pair, "a field") for pair in fields] or list(more.items())
        return self.namedtuple(typename, [pair[0] for pair in pairs])

    def make_typed_dict(self, name, bases, space, keywords):
        for option in "total", "closed", "extra_items":
            keywords.pop(option, None)
        return self.make_class(name, bases, space, keywords)

    def typed_dict(self, typename, fields=(), /, *, total=True, **more):
        name = attribute_name(typename, "the name of a class")
        space = {"__module__": MAIN, "__qualname__": name, "__annotations__": {exact_text(key, "a key"): kind for key, kind in dict(fields).items()}}
        return self.make_class(name, (TYPED_DICT,), space, {})

    def make_protocol(self, name, bases, space, keywords):
        members = members_of_protocol(bases, space)
        checked = self.checked_space(bases, space)
        checked[PROTOCOL_MARK] = members
        return new_class(ProtocolType, name, bases, checked, keywords)

    def make_enum(self, name, bases, space, keywords):
        members = space.members
        checked = self.checked_space(bases, {n: value for n, value in space.items() if n not in members})
        checked["@raw"] = members
        return make_enumeration(name, bases, checked, keywords)


def shown_fields(names):
    running = set()

    def __repr__(self):
        if id(self) in running:
            return "..."
        running.add(id(self))
        try:
            return "%s(%s)" % (REAL_TYPE(self).__qualname__, ", ".join(["%s=%r" % (name, getattr(self, name)) for name in names]))
        finally:
            running.discard(id(self))

    return __repr__


def comparison(name, sign, names):
    mine, theirs = ["(%s)" % "".join("%s.%s, " % (side, n) for n in names) for side in ("self", "other")]
    made = generated("made(self, other):\n if type(self) is type(other):\n  return %s %s %s\n return NotImplemented" % (mine, sign, theirs),
                     type=REAL_TYPE, NotImplemented=NotImplemented)
    made.__name__ = made.__qualname__ = name
    return made


def hashed(names):
    return generated("made(self):\n return hash((%s))" % "".join("self.%s, " % n for n in names), hash=hash)


def freeze(cls, names):
    def __setattr__(self, name, value):
        if REAL_TYPE(self) is cls or name in names:
            raise FrozenInstanceError("cannot assign to field %r" % name)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self, name):
        if REAL_TYPE(self) is cls or name in names:
            raise FrozenInstanceError("cannot delete field %r" % name)
        super(cls, self).__delattr__(name)

    REAL_TYPE.__setattr__(cls, "__setattr__", __setattr__)
    REAL_TYPE.__setattr__(cls, "__delattr__", __delattr__)


def fields_of(thing):
    """Returns the fields of a data class or of its instance, or None."""
    kind = thing if is_class(thing) else REAL_TYPE(thing)
    for base in MRO_OF(kind):
        if FIELDS in DICT_OF(base):
            return [f for f in DICT_OF(base)[FIELDS].values() if f._kind is PLAIN_FIELD]
    return None


def fields(class_or_instance):
    found = fields_of(class_or_instance)
    if found is None:
        raise TypeError("must be called with a dataclass type or instance")
    return tuple(found)


def is_dataclass(obj):
    return fields_of(obj) is not None


def fields_of_object(thing, function):
    found = None if is_class(thing) else fields_of(thing)
    if found is None:
        raise TypeError("%s() should be called on dataclass instances" % function)
    return found


def asdict(obj, *, dict_factory=dict):
    fields_of_object(obj, "asdict")
    return converted(obj, lambda pairs, thing: dict_factory(pairs))


def astuple(obj, *, tuple_factory=tuple):
    fields_of_object(obj, "astuple")
    return converted(obj, lambda pairs, thing: tuple_factory([value for _, value in pairs]))


def converted(thing, make):
    kind = REAL_TYPE(thing)
    if not is_class(thing):
        found = fields_of(thing)
        if found is not None:
            return make([(f.name, converted(getattr(thing, f.name), make)) for f in found], thing)
    if tuple in MRO_OF(kind) and "_fields" in DICT_OF(kind):
        return kind(*[converted(value, make) for value in thing])
    if list in MRO_OF(kind) or tuple in MRO_OF(kind):
        return kind([converted(value, make) for value in thing])
    if _collections.defaultdict in MRO_OF(kind):
        made = kind(thing.default_factory)
        for key, value in dict.items(thing):
            made[converted(key, make)] = converted(value, make)
        return made
    if dict in MRO_OF(kind):
        return kind((converted(key, make), converted(value, make)) for key, value in dict.items(thing))
    return deepcopy(thing)


def replace(obj, /, **changes):
    kind, values = REAL_TYPE(obj), {}
    fields_of_object(obj, "replace")
    for base in MRO_OF(kind):
        if FIELDS in DICT_OF(base):
            known = DICT_OF(base)[FIELDS]
            break
    for f in known.values():
        if f._kind is CLASS_VARIABLE:
            continue
        if not f.init:
            if f.name in changes:
                raise (TypeError if NO_NESTED else ValueError)("field %s is declared with init=False, it cannot be specified with replace()" % f.name)
        elif f.name in changes:
            values[f.name] = changes.pop(f.name)
        elif f._kind is INIT_VARIABLE:
            if f.default is MISSING:
                raise (TypeError if NO_NESTED else ValueError)("InitVar %r must be specified with replace()" % f.name)
            values[f.name] = f.default
        else:
            values[f.name] = getattr(obj, f.name)
    return kind(**values, **changes)


DATACLASSES = {
    "field": field, "fields": fields, "is_dataclass": is_dataclass, "asdict": asdict, "astuple": astuple, "replace": replace,
    "InitVar": InitVar, "FrozenInstanceError": FrozenInstanceError, "MISSING": MISSING, "KW_ONLY": KW_ONLY,
}
