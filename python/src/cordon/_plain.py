"""Reads pickles from code that is not trusted.

The ordinary unpickler calls whatever the pickle names, so the author of a pickle runs code
here. This one only handles the opcodes that describe data. A name in a pickle is looked up in a
table of makers below, among the dataclasses that this process has loaded, and among the types
that the caller allows. It is never imported or called otherwise.

The size of plain data is bounded as well: its depth, repetition (a few bytes can name a list of
a billion), the memory that a maker takes, and time. Keys are measured before they are hashed,
because hash() recurses through a tuple of any depth.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import inspect
import re
import struct
import sys
import time
import types
import uuid
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

#: How deep data may be nested, within Python's own recursion limit.
MAX_DEPTH = 400
#: How many values data may have, counting repeated ones each time.
MAX_VALUES = 5_000_000
#: How long reading may take, in seconds.
MAX_TIME = 20.0


class Refusal(Exception):
    """The pickle is malformed, or describes more than plain data."""


class _Maker:
    """A name on the stack; it is not a value."""

    __slots__ = ("name", "reduce", "new", "trusted", "cls")

    def __init__(
        self,
        name: str,
        reduce: Optional[Callable[..., Any]] = None,
        new: Optional[Callable[..., Any]] = None,
        trusted: bool = False,
        cls: Optional[type] = None,
    ) -> None:
        self.name, self.reduce, self.new, self.trusted, self.cls = name, reduce, new, trusted, cls


class _Unbuilt:
    """A dataclass whose fields have not been read yet. It is not a value either."""

    __slots__ = ("cls", "memoized")

    def __init__(self, cls: type) -> None:
        self.cls, self.memoized = cls, -1


def _fraction(*args: Any) -> fractions.Fraction:
    # "1e999999999" is a fraction, too, of a billion digits.
    if len(args) == 1 and isinstance(args[0], str) and re.fullmatch(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?", args[0]):
        return fractions.Fraction(args[0])
    if len(args) == 2 and all(type(a) is int for a in args):
        if any(a.bit_length() > 16_000 for a in args):
            raise Refusal("the numbers are too long for a Fraction, which computes their divisor")
        return fractions.Fraction(*args)
    raise Refusal("a Fraction is not made of integers")


def _decimal(text: Any) -> decimal.Decimal:
    if type(text) is not str:
        raise Refusal("a Decimal is not made of text")  # converting a long number takes long
    return decimal.Decimal(text)


def _deque(items: Iterable[Any] = (), most: Optional[int] = None) -> collections.deque[Any]:
    return collections.deque(items, most)


def _ordered() -> collections.OrderedDict[Any, Any]:
    return collections.OrderedDict()


def _bytearray(*args: Any) -> bytearray:
    if not all(type(arg) is bytes for arg in args):
        raise Refusal("a bytearray is not made of bytes")  # a number would be its size
    return bytearray(*args)


# What may be called with arguments. Each only makes a value from its arguments.
_REDUCE: Dict[Tuple[str, str], Callable[..., Any]] = {
    ("builtins", "bytearray"): _bytearray,
    ("builtins", "complex"): complex,
    ("collections", "OrderedDict"): _ordered,
    ("collections", "deque"): _deque,
    ("datetime", "date"): datetime.date,
    ("datetime", "time"): datetime.time,
    ("datetime", "datetime"): datetime.datetime,
    ("datetime", "timedelta"): datetime.timedelta,
    ("datetime", "timezone"): datetime.timezone,
    ("decimal", "Decimal"): _decimal,
    ("fractions", "Fraction"): _fraction,
}
_MEMBER = "builtins.getattr"
_SCALARS = (type(None), bool, int, float, str, bytes)
_PLAIN = _SCALARS + (tuple, list, dict, set, frozenset)
_ARGUMENTS = _PLAIN + (datetime.timedelta, datetime.timezone)


def loads(data: bytes, allow: Iterable[type] = ()) -> Any:
    """Reads a pickle of protocol 4.

    >>> import pickle
    >>> loads(pickle.dumps({"a": [1, 2.5, None, (b"x", {3})]}, 4))
    {'a': [1, 2.5, None, (b'x', {3})]}
    >>> loads(pickle.dumps(print, 4))
    Traceback (most recent call last):
    ...
    cordon._plain.Refusal: builtins.print is not plain data or a dataclass: name its type in allow=
    """
    machine = _Machine(data, allow)
    try:
        value = machine.run()
    except Refusal:
        raise
    except (IndexError, KeyError, struct.error, UnicodeDecodeError):
        raise Refusal("the pickle is cut short or malformed") from None
    except Exception as problem:  # a key that cannot be hashed, a date that does not exist, …
        raise Refusal(f"the pickle is malformed: {type(problem).__name__}: {problem}"[:300]) from None
    _measure(value, machine.states, MAX_VALUES)
    return value


class _Machine:
    """A stack, a memo, and a loop over the opcodes."""

    def __init__(self, data: bytes, allow: Iterable[type]) -> None:
        self.data = data
        self.allow = {(cls.__module__, cls.__qualname__): cls for cls in allow}
        self.stack: List[Any] = []
        self.marks: List[int] = []
        self.memo: List[Any] = []
        self.budget = (64 << 20) + 8 * len(data)  # bytes that makers may allocate
        self.deadline = time.monotonic() + MAX_TIME
        self.states: Dict[int, List[Any]] = {}  # of dataclasses and allowed types, by id
        self.walked = 0  # the number of values measured so far

    def run(self) -> Any:
        data, stack, memo, marks = self.data, self.stack, self.memo, self.marks
        at, steps = 0, 0
        while True:
            op = data[at]
            at += 1
            steps += 1
            if not steps & 255:
                self.watch()
            if op == 0x8C:  # SHORT_BINUNICODE
                size = data[at]
                stack.append(str(self.take(at + 1, size), "utf-8", "surrogatepass"))
                at += 1 + size
            elif op == 0x94:  # MEMOIZE
                if type(stack[-1]) is _Unbuilt:
                    stack[-1].memoized = len(memo)
                memo.append(stack[-1])
            elif op == 0x4B:  # BININT1
                stack.append(data[at])
                at += 1
            elif op == 0x68:  # BINGET
                stack.append(memo[data[at]])
                at += 1
            elif op == 0x6A:  # LONG_BINGET
                stack.append(memo[int.from_bytes(self.take(at, 4), "little")])
                at += 4
            elif op == 0x4A:  # BININT
                stack.append(int.from_bytes(self.take(at, 4), "little", signed=True))
                at += 4
            elif op == 0x4D:  # BININT2
                stack.append(int.from_bytes(self.take(at, 2), "little"))
                at += 2
            elif op == 0x47:  # BINFLOAT
                stack.append(struct.unpack(">d", self.take(at, 8))[0])
                at += 8
            elif op in _CONSTANTS:
                stack.append(_CONSTANTS[op])
            elif op in _SIZED:
                width, make = _SIZED[op]
                size = int.from_bytes(self.take(at, width), "little")
                stack.append(make(self.take(at + width, size)))
                at += width + size
            elif op == 0x28:  # MARK
                marks.append(len(stack))
            elif op in _EMPTY:
                stack.append(_EMPTY[op]())
            elif op in _TUPLES:
                size = _TUPLES[op]
                if len(stack) < size:
                    raise IndexError
                stack[len(stack) - size :] = [tuple(stack[len(stack) - size :])]
            elif op == 0x74:  # TUPLE
                items = self.since_mark()
                stack.append(tuple(items))
            elif op == 0x91:  # FROZENSET
                stack.append(frozenset(self.fill(set(), self.since_mark())))
            elif op == 0x61:  # APPEND
                item = stack.pop()
                self.extend(stack[-1], [item])
            elif op == 0x65:  # APPENDS
                items = self.since_mark()
                self.extend(stack[-1], items)
            elif op == 0x90:  # ADDITEMS
                items = self.since_mark()
                self.fill(self.expect(stack[-1], (set,)), items)
            elif op == 0x73:  # SETITEM
                value, key = stack.pop(), stack.pop()
                self.expect(stack[-1], (dict, collections.OrderedDict))[self.hashable(key)] = value
            elif op == 0x75:  # SETITEMS
                items = self.since_mark()
                if len(items) % 2:
                    raise Refusal("a key without a value")
                target = self.expect(stack[-1], (dict, collections.OrderedDict))
                for i in range(0, len(items), 2):
                    target[self.hashable(items[i])] = items[i + 1]
                    if not i & 127:
                        self.watch()
            elif op == 0x93:  # STACK_GLOBAL
                name, module = stack.pop(), stack.pop()
                if type(name) is not str or type(module) is not str:
                    raise Refusal("a name is not text")
                stack.append(self.maker(module, name))
            elif op == 0x52:  # REDUCE
                args, maker = stack.pop(), stack.pop()
                stack.append(self.make(maker, "reduce", args))
            elif op == 0x81:  # NEWOBJ
                args, maker = stack.pop(), stack.pop()
                stack.append(self.make(maker, "new", args))
            elif op == 0x62:  # BUILD
                state = stack.pop()
                self.build(state)
            elif op == 0x80:  # PROTO
                if data[at] > 5:
                    raise Refusal(f"pickle protocol {data[at]} is unknown")
                at += 1
            elif op == 0x95:  # FRAME: how far to read ahead, not needed here
                self.take(at, 8)
                at += 8
            elif op == 0x2E:  # STOP
                if len(stack) != 1 or marks:
                    raise Refusal("values are left on the stack")
                return stack[0]
            else:
                raise Refusal(f"the opcode 0x{op:02x} is not for plain data")

    def take(self, at: int, size: int) -> bytes:
        part = self.data[at : at + size]
        if len(part) != size:
            raise IndexError
        return part

    def since_mark(self) -> List[Any]:
        mark = self.marks.pop()
        if mark > len(self.stack):
            raise IndexError
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def watch(self) -> None:
        if time.monotonic() > self.deadline:
            raise Refusal(f"reading it takes longer than {MAX_TIME:g} s")

    def fill(self, target: Set[Any], items: List[Any]) -> Set[Any]:
        """Adds items in small parts: keys can be chosen so that all of them collide."""
        for i in range(0, len(items), 64):
            target.update(map(self.hashable, items[i : i + 64]))
            self.watch()
        return target

    def hashable(self, key: Any) -> Any:
        if type(key) not in _SCALARS:
            self.walk(key)
        return key

    def walk(self, value: Any) -> None:
        """Measures a value before it is passed to code that assumes bounded data."""
        self.walked += _measure(value, self.states, MAX_VALUES - self.walked)

    @staticmethod
    def expect(value: Any, kinds: Tuple[type, ...]) -> Any:
        if type(value) not in kinds:
            raise Refusal(f"{type(value).__name__} cannot be filled")
        return value

    def extend(self, target: Any, items: List[Any]) -> None:
        self.expect(target, (list, collections.deque)).extend(items)

    # Names

    def maker(self, module: str, name: str) -> _Maker:
        if module == "__mp_main__":
            module = "__main__"  # the guest has another main program
        spelled = f"{module}.{name}"
        allowed = self.allow.get((module, name))
        if allowed is not None:
            return _Maker(spelled, allowed, lambda *args: allowed.__new__(allowed, *args), True, allowed)
        if (module, name) in _REDUCE:
            return _Maker(spelled, _REDUCE[module, name])
        if spelled == _MEMBER:
            return _Maker(spelled, self.member, trusted=True)
        cls = uuid.UUID if (module, name) == ("uuid", "UUID") else _loaded_dataclass(module, name)
        if cls is None:
            raise Refusal(f"{spelled[:200]} is not plain data or a dataclass: name its type in allow=")
        if cls is not uuid.UUID and not dataclasses.fields(cls):
            return _Maker(spelled, new=lambda: object.__new__(cls))
        return _Maker(spelled, new=lambda: _Unbuilt(cls))

    def make(self, maker: Any, way: str, args: Any) -> Any:
        if type(maker) is not _Maker or type(args) is not tuple:
            raise Refusal("a value is called as if it were a type")
        call = getattr(maker, way)
        if call is None:
            raise Refusal(f"{maker.name[:200]} cannot be made by this opcode")
        for arg in args:
            self.budget -= len(arg) if isinstance(arg, (str, bytes, list, tuple, dict, set, frozenset)) else 16
            if not maker.trusted and not isinstance(arg, _ARGUMENTS):
                raise Refusal(f"{maker.name} is not made of plain data")
        if self.budget < 0:
            raise Refusal("it takes too much memory for its size")
        if maker.cls is None:
            return call(*args)
        self.walk(args)
        made = call(*args)
        self.states[id(made)] = [args]
        return made

    def member(self, owner: Any, name: Any) -> Any:
        """Returns a member of an Enum that the caller allows: some Pythons pickle it as getattr."""
        cls = owner.cls if type(owner) is _Maker else None
        if cls is None or not issubclass(cls, enum.Enum) or type(name) is not str or name not in cls.__members__:
            raise Refusal(f"{_MEMBER} is used on something other than an allowed Enum")
        return cls.__members__[name]

    def build(self, state: Any) -> None:
        target = self.stack[-1]
        if type(target) is _Unbuilt:
            if target.cls is uuid.UUID:
                built: Any = _uuid(state)
            else:
                built, values = _dataclass(target.cls, state)
                self.states[id(built)] = values
            self.stack[-1] = built
            if target.memoized >= 0:
                self.memo[target.memoized] = built  # it was memoized before it was built
            return
        if type(target) not in self.allow.values():
            raise Refusal(f"{type(target).__name__} has no state")
        self.walk(state)
        self.states[id(target)] = [*self.states.get(id(target), ()), state]
        setstate = getattr(target, "__setstate__", None)
        if setstate is not None:
            setstate(state)
        elif type(state) is dict:
            target.__dict__.update(state)
        else:
            raise Refusal(f"the state of {type(target).__name__} is not a dict")


def _text(data: bytes) -> str:
    return str(data, "utf-8", "surrogatepass")


def _long(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


_CONSTANTS = {0x4E: None, 0x88: True, 0x89: False}
_EMPTY: Dict[int, Callable[[], Any]] = {0x5D: list, 0x7D: dict, 0x29: tuple, 0x8F: set}
_TUPLES = {0x85: 1, 0x86: 2, 0x87: 3}
_SIZED: Dict[int, Tuple[int, Callable[[bytes], Any]]] = {
    0x58: (4, _text),  # BINUNICODE
    0x8D: (8, _text),  # BINUNICODE8
    0x43: (1, bytes),  # SHORT_BINBYTES
    0x42: (4, bytes),  # BINBYTES
    0x8E: (8, bytes),  # BINBYTES8
    0x96: (8, bytearray),  # BYTEARRAY8
    0x8A: (1, _long),  # LONG1
    0x8B: (4, _long),  # LONG4
}


def _loaded_dataclass(module: str, name: str) -> Optional[type]:
    """Returns a dataclass of this process. It reads dictionaries, not attributes: a module can
    have code that runs when an attribute is read."""
    space = getattr(sys.modules.get(module), "__dict__", None)
    found: Any = None
    for part in name.split("."):
        if not isinstance(space, dict) and type(space).__name__ != "mappingproxy":
            return None
        found = space.get(part) if space is not None else None
        space = found.__dict__ if isinstance(found, type) else None
    if not isinstance(found, type) or "__dataclass_fields__" not in found.__dict__:
        return None
    # A finalizer would run on fields that the guest chose.
    return None if hasattr(found, "__del__") else found


def _dataclass(cls: type, state: Any) -> Tuple[Any, List[Any]]:
    """Makes an instance without calling its code, with the values of the pickle."""
    names = [field.name for field in dataclasses.fields(cls)]
    if type(state) is tuple and len(state) == 2 and all(part is None or type(part) is dict for part in state):
        state = {**(state[0] or {}), **(state[1] or {})}  # with __slots__
    elif type(state) in (list, tuple) and len(state) == len(names):
        state = dict(zip(names, state))  # frozen, with __slots__
    if type(state) is not dict:
        raise Refusal(f"the state of {cls.__name__} is not a dataclass's")
    for name in state:
        if type(name) is not str:
            raise Refusal(f"{cls.__name__} has a field name that is not text")
        if name not in names:
            raise Refusal(f"{cls.__name__} has no field {name[:100]!r}")
    for name in names:
        if name not in state and not hasattr(cls, name):
            raise Refusal(f"{cls.__name__} lacks its field {name!r}")
    instance: Any = object.__new__(cls)
    for name, value in state.items():
        if isinstance(inspect.getattr_static(cls, name, None), types.MemberDescriptorType):
            object.__setattr__(instance, name, value)  # a slot
        else:
            instance.__dict__[name] = value
    return instance, list(state.values())


def _uuid(state: Any) -> uuid.UUID:
    if type(state) is not dict or not set(state) <= {"int", "is_safe"} or type(state.get("int")) is not int:
        raise Refusal("the state of a UUID is malformed")
    return uuid.UUID(int=state["int"])


def _measure(value: Any, states: Dict[int, List[Any]], most: int) -> int:
    """Walks through data as printing, comparing or hashing does. Returns the number of
    values."""
    level, depth, seen = [value], 0, 0
    while level:
        depth += 1
        seen += len(level)
        if depth > MAX_DEPTH:
            raise Refusal(f"it is nested more than {MAX_DEPTH} deep, or contains itself")
        if seen > most:
            raise Refusal(f"it has more than {MAX_VALUES} values, or repeats itself")
        below: List[Any] = []
        for item in level:
            kind = type(item)
            if kind in (list, tuple, set, frozenset, collections.deque):
                below.extend(item)
            elif kind in (dict, collections.OrderedDict):
                below.extend(item.keys())
                below.extend(item.values())
            elif kind is _Maker or kind is _Unbuilt:
                raise Refusal(f"{item.name if kind is _Maker else item.cls.__name__} is not data")
            elif id(item) in states:
                below.extend(states[id(item)])
            if len(below) + seen > most:
                raise Refusal(f"it has more than {MAX_VALUES} values, or repeats itself")
        level = below
    return seen
