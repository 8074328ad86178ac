#: typing-generic-stack
#: Generic containers with TypeVar, bounds and type aliases.
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Optional, Tuple, TypeVar, Union

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
Number = TypeVar("Number", int, float)
Pair = Tuple[T, T]
Json = Union[None, bool, int, float, str, List[Any], Dict[str, Any]]


class Stack(Generic[T]):
    def __init__(self, items: Optional[Iterable[T]] = None) -> None:
        self._items: List[T] = list(items or [])

    def push(self, item: T) -> "Stack[T]":
        self._items.append(item)
        return self

    def pop(self) -> T:
        return self._items.pop()

    def map(self, f: Callable[[T], V]) -> "Stack[V]":
        return Stack[V](f(i) for i in self._items)

    def __iter__(self) -> Iterator[T]:
        return reversed(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Cache(Generic[K, V]):
    def __init__(self, load: Callable[[K], V]) -> None:
        self.load = load
        self.data: Dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        if key not in self.data:
            self.data[key] = self.load(key)
        return self.data[key]


def swap(pair: Pair[T]) -> Pair[T]:
    a, b = pair
    return b, a


def add(a: Number, b: Number) -> Number:
    return a + b


stack: Stack[int] = Stack[int]([1, 2]).push(3)
cache: Cache[str, int] = Cache(len)
value: Json = {"n": [cache["four"], cache["four"]]}
count: int
count = len(stack)
result = [list(stack), list(stack.map(str)), stack.pop(), count, swap((1, 2)), add(1.5, 2), value, len(cache.data), isinstance(stack, Stack)]
#= [[3, 2, 1], ["3", "2", "1"], 3, 3, [2, 1], 3.5, {"n": [4, 4]}, 1, true]

#: typing-protocols
#: Structural typing with Protocol, runtime_checkable and abstract collections.
from typing import Protocol, runtime_checkable, Sequence, Iterable, Final, Literal
from collections.abc import Iterable as ABCIterable, Mapping, MutableMapping, Sized, Hashable, Callable

MAX: Final = 3
Mode = Literal["fast", "slow"]


@runtime_checkable
class Drawable(Protocol):
    def draw(self) -> str: ...


@runtime_checkable
class HasArea(Protocol):
    @property
    def area(self) -> float: ...


class Circle:
    def __init__(self, r: float):
        self.r = r

    def draw(self) -> str:
        return "o"

    @property
    def area(self) -> float:
        return round(3.14159 * self.r ** 2, 2)


class Label:
    def draw(self) -> str:
        return "label"


class LowerDict(MutableMapping):
    def __init__(self, *args, **kwargs):
        self._d = {}
        self.update(*args, **kwargs)

    def __getitem__(self, key):
        return self._d[key.lower()]

    def __setitem__(self, key, value):
        self._d[key.lower()] = value

    def __delitem__(self, key):
        del self._d[key.lower()]

    def __iter__(self):
        return iter(self._d)

    def __len__(self):
        return len(self._d)


def render(shapes: Iterable[Drawable], mode: Mode = "fast") -> str:
    return mode[0] + ":" + "".join(s.draw() for s in shapes)


shapes = [Circle(1), Label()]
d = LowerDict({"A": 1}, B=2)
d.setdefault("C", 3)
result = [
    render(shapes),
    [isinstance(s, Drawable) for s in (*shapes, 3)],
    [s.area for s in shapes if isinstance(s, HasArea)],
    d["a"] + d.pop("B"),
    dict(d.items()),
    "c" in d,
    isinstance(d, Mapping),
    [isinstance([], k) for k in (ABCIterable, Sized, Hashable, Callable)],
    MAX,
]
#= ["f:olabel", [true, true, false], [3.14], 3, {"a": 1, "c": 3}, true, true, [true, true, false, false], 3]

#: typing-typeddict
#: TypedDict, NewType, overload, cast and annotated functions.
from __future__ import annotations

from typing import TypedDict, NewType, overload, cast, Annotated, TYPE_CHECKING, NoReturn, get_args, get_origin, Union, Optional

if TYPE_CHECKING:
    from decimal import Decimal

UserId = NewType("UserId", int)


class Address(TypedDict, total=False):
    street: str
    city: str


class User(TypedDict):
    id: UserId
    name: str
    address: Address


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x):
    return x * 2


def fail(message: str) -> NoReturn:
    raise RuntimeError(message)


def city(user: User) -> Optional[str]:
    return user.get("address", {}).get("city")


def price(amount: Decimal | None = None) -> str:
    return "free" if amount is None else str(amount)


Percent = Annotated[int, "0..100"]


def scale(p: Percent, *values: float) -> list[float]:
    return [v * p / 100 for v in values]


ann: User = {"id": UserId(7), "name": "Ann", "address": {"city": "Ulm"}}
bob = cast(User, {"id": 8, "name": "Bob"})
bob2 = User(id=UserId(9), name="Bob", address=Address(street="Main"))
try:
    fail("expected")
except RuntimeError as e:
    message = str(e)
result = [city(ann), city(bob), bob2, double(4), double("ab"), scale(50, 3, 5), price(), message, get_origin(list[int]) is list, [t.__name__ for t in get_args(Union[int, str])]]
#= ["Ulm", null, {"id": 9, "name": "Bob", "address": {"street": "Main"}}, 8, "abab", [1.5, 2.5], "free", "expected", true, ["int", "str"]]

#: typing-paramspec
#: ParamSpec, Concatenate, unions with a bar and TypeAlias.
#: since 3.10
from functools import wraps
from typing import Callable, Concatenate, ParamSpec, TypeAlias, TypeGuard, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Scalar: TypeAlias = int | float | str


class Session:
    def __init__(self) -> None:
        self.log: list[str] = []


def with_session(f: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    session = Session()

    @wraps(f)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        session.log.append(f.__name__)
        return f(session, *args, **kwargs)

    return inner


@with_session
def save(session: Session, name: str, *, times: int = 1) -> str:
    return f"{name} x{times} after {len(session.log)}"


def all_text(values: list[Scalar]) -> TypeGuard[list[str]]:
    return all(isinstance(v, str) for v in values)


def kind(x: int | str | None) -> str:
    if isinstance(x, int | float):
        return "number"
    return "none" if x is None else "text"


result = [save("a"), save("b", times=3), save.__name__, all_text(["x"]), all_text(["x", 1]), kind(3), kind("s"), kind(None)]
#= ["a x1 after 1", "b x3 after 2", "save", true, false, "number", "text", "none"]

#: typing-self-and-required
#: Self in builders, Required items, assert_never and variadic type variables.
#: since 3.11
from typing import Self, TypedDict, NotRequired, Required, assert_never, Literal, TypeVarTuple

Ts = TypeVarTuple("Ts")


class Builder:
    def __init__(self) -> None:
        self.parts: list[str] = []

    def add(self, part: str) -> Self:
        self.parts.append(part)
        return self

    def build(self) -> str:
        return " ".join(self.parts)


class SqlBuilder(Builder):
    def select(self, *names: str) -> Self:
        return self.add("SELECT " + ", ".join(names))

    def table(self, name: str) -> Self:
        return self.add(f"FROM {name}")


class Movie(TypedDict):
    title: Required[str]
    year: NotRequired[int]


def area(shape: Literal["circle", "square"], size: float) -> float:
    if shape == "circle":
        return round(3.14 * size ** 2, 2)
    elif shape == "square":
        return size ** 2
    else:
        assert_never(shape)


def rotate(args: tuple[int, *Ts]) -> tuple[*Ts, int]:
    first, *rest = args
    return (*rest, first)


movie: Movie = {"title": "Alien"}
try:
    area("line", 2)
    error = None
except AssertionError:
    error = "unreachable reached"
result = [SqlBuilder().select("a", "b").table("t").build(), movie.get("year", "?"), area("circle", 2), area("square", 3), rotate((1, "x", "y")), error]
#= ["SELECT a, b FROM t", "?", 12.56, 9, ["x", "y", 1], "unreachable reached"]

#: typing-new-generics
#: Type parameter syntax for classes, functions and aliases.
#: since 3.12
from collections.abc import Callable, Iterable, Iterator
from typing import override

type Pair[T] = tuple[T, T]
type Tree[T] = dict[str, Tree[T]] | T


class Node[T]:
    def __init__(self, value: T, *children: "Node[T]") -> None:
        self.value = value
        self.children = list(children)

    def walk(self) -> Iterator[T]:
        yield self.value
        for child in self.children:
            yield from child.walk()

    def map[U](self, f: Callable[[T], U]) -> "Node[U]":
        return Node(f(self.value), *(c.map(f) for c in self.children))


class Sorted[T: (int, str)](Node[T]):
    @override
    def walk(self) -> Iterator[T]:
        return iter(sorted(super().walk()))


def first[T](items: Iterable[T], default: T | None = None) -> T | None:
    return next(iter(items), default)


def depth[T](tree: Tree[T]) -> int:
    return 1 + max(map(depth, tree.values())) if isinstance(tree, dict) else 0


tree = Node(3, Node(1, Node(2)), Node(5))
pair: Pair[int] = (1, 2)
result = [list(tree.walk()), list(tree.map(str).walk()), list(Sorted(3, Node(9), Node(1)).walk()), first([]), first("xyz"), depth({"a": {"b": 1}, "c": 2}), pair, Pair.__name__]
#= [[3, 1, 2, 5], ["3", "1", "2", "5"], [1, 3, 9], null, "x", 2, [1, 2], "Pair"]

#: typing-defaults
#: Defaults for type parameters, copy.replace and read-only items.
#: since 3.13
import copy
from dataclasses import dataclass
from typing import NamedTuple, ReadOnly, TypedDict, TypeIs


@dataclass(frozen=True)
class Config[T = str]:
    name: T
    retries: int = 3


class Version(NamedTuple):
    major: int
    minor: int = 0


class Row(TypedDict):
    id: ReadOnly[int]
    name: str


def is_text(x: object) -> TypeIs[str]:
    return isinstance(x, str)


base = Config("base")
row: Row = {"id": 1, "name": "x"}
result = [repr(copy.replace(base, retries=5)), repr(copy.replace(Version(1, 2), minor=9)), is_text(base.name), is_text(3), row]
#= ["Config(name='base', retries=5)", "Version(major=1, minor=9)", true, false, {"id": 1, "name": "x"}]
