"""copy and pprint. Both use the real type of their argument. A copy is made from its class
and its attributes; methods of the object are not called."""

# Never changed, or shared on purpose.
ATOMIC = frozenset((
    NoneType, REAL_TYPE(...), REAL_TYPE(NotImplemented), int, float, bool, complex, str, bytes, range, FUNCTION,
    types.BuiltinFunctionType, property, Form, TypeVar, GENERIC_ALIAS, module, slice, _Missing,
))


class CopyError(Exception):
    pass


CopyError.__name__ = CopyError.__qualname__ = "Error"


def is_atomic(thing, kind):
    if kind in ATOMIC or is_class(thing) or REAL_TYPE(kind) is EnumType:
        return True
    return not is_script_class(kind) and lookup(kind, "__copy__") is None and attributes_of(thing) is None and not CONTAINERS & set(MRO_OF(kind))


CONTAINERS = frozenset((list, tuple, dict, set, frozenset, bytearray, _collections.deque))


def copy(x):
    kind = REAL_TYPE(x)
    if is_atomic(x, kind):
        return x
    copier = lookup(kind, "__copy__")
    if copier is not None:
        return copier(x)
    if kind in COPIED_BY_METHOD:
        return kind.copy(x)
    if kind in (tuple, frozenset):
        return x
    made = empty_like(x, kind)
    fill(made, x, kind, lambda value: value)
    return made


COPIED_BY_METHOD = frozenset((list, dict, set, bytearray))


def deepcopy(x, memo=None):
    memo = {} if memo is None else memo
    if REAL_TYPE(memo) is not dict:
        raise TypeError("the memo of deepcopy() must be a dict")
    known = memo.get(id(x), memo)
    if known is not memo:
        return known
    kind = REAL_TYPE(x)
    if kind in (tuple, frozenset):
        made = kind([deepcopy(part, memo) for part in x])
        made = memo.get(id(x), made)  # a cycle may have made it
        if all(a is b for a, b in zip(made, x)) and kind is tuple:
            made = x
    elif kind is types.MethodType:
        made = bound_copy(x, memo)
    elif is_atomic(x, kind):
        return x
    elif lookup(kind, "__deepcopy__") is not None:
        made = lookup(kind, "__deepcopy__")(x, memo)
    else:
        made = empty_like(x, kind)
        memo[id(x)] = made
        fill(made, x, kind, lambda value: deepcopy(value, memo))
    if made is not x:
        memo[id(x)] = made
        memo.setdefault(id(memo), []).append(x)  # keeps x alive, so that its id is not reused
    return made


def bound_copy(method, memo):
    thing = method.__self__
    if not is_script_class(REAL_TYPE(thing)):
        return method
    return types.MethodType(method.__func__, deepcopy(thing, memo))


def empty_like(x, kind):
    """Makes a new object of a class without calling its methods."""
    for base, make in (
        (_collections.defaultdict, lambda: _collections.defaultdict.__new__(kind)), (dict, lambda: dict.__new__(kind)),
        (list, lambda: list.__new__(kind)), (set, lambda: set.__new__(kind)), (frozenset, lambda: frozenset.__new__(kind, x)),
        (tuple, lambda: tuple.__new__(kind, tuple.__iter__(x))), (bytearray, lambda: bytearray.__new__(kind)),
        (_collections.deque, lambda: _collections.deque.__new__(kind)), (str, lambda: str.__new__(kind, exact(x))),
        (int, lambda: int.__new__(kind, exact(x))), (float, lambda: float.__new__(kind, float.__float__(x))),
        (bytes, lambda: bytes.__new__(kind, exact(x))), (complex, lambda: complex.__new__(kind, complex.__pos__(x))),
        (BaseException, lambda: BaseException.__new__(kind, *ARGS_OF_ERROR(x))),
    ):
        if base in MRO_OF(kind):
            return make()
    if kind in REBUILT:
        return REBUILT[kind](x)
    try:
        return object.__new__(kind)
    except TypeError:
        raise CopyError("un(deep)copyable object of type %s" % kind) from None


ARGS_OF_ERROR = BaseException.__dict__["args"].__get__
REBUILT = {}  # by class: library objects with contents


def fill(made, x, kind, each):
    """Copies the contents of the old object to the new one."""
    bases = MRO_OF(kind)
    if _collections.defaultdict in bases:
        made.default_factory = x.default_factory
    if _collections.deque in bases:
        _collections.deque.__init__(made, (each(value) for value in _collections.deque.__iter__(x)), x.maxlen)
    elif dict in bases:
        put = OrderedDict.__setitem__ if OrderedDict in bases else dict.__setitem__
        for key in list(dict.keys(x)):
            put(made, each(key), each(dict.__getitem__(x, key)))
    elif list in bases:
        list.extend(made, [each(value) for value in list.__iter__(x)])
    elif set in bases:
        set.update(made, [each(value) for value in set.__iter__(x)])
    elif bytearray in bases:
        bytearray.extend(made, bytes(x))
    state = lookup(kind, "__getstate__")
    if REAL_TYPE(state) is FUNCTION and is_script_class(kind):
        return set_state(made, each(state(x)), kind)
    space, old = attributes_of(made), attributes_of(x)
    if space is not None and old:
        for name, value in list(old.items()):
            space[name] = each(value)
    for base in bases:
        for name, slot in DICT_OF(base).items():
            if REAL_TYPE(slot) is types.MemberDescriptorType and is_script_class(base):
                try:
                    slot.__set__(made, each(slot.__get__(x, kind)))
                except AttributeError:
                    pass
    return None


def set_state(made, state, kind):
    setter = lookup(kind, "__setstate__")
    if setter is not None:
        setter(made, state)
    elif is_a(state, dict) and attributes_of(made) is not None:
        for name, value in dict.items(state):
            attributes_of(made)[attribute_name(name, "an attribute")] = value


OrderedDict = _collections.OrderedDict


def copy_replace(obj, /, **changes):
    function = lookup(REAL_TYPE(obj), "__replace__")
    if function is not None:
        return function(obj, **changes)
    return replace(obj, **changes)


COPY = {"copy": copy, "deepcopy": deepcopy, "replace": copy_replace, "Error": CopyError, "error": CopyError}
