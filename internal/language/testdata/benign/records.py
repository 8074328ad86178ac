#: dataclass-basics
#: Dataclasses with defaults, factories, ordering, replace, asdict and astuple.
from dataclasses import dataclass, field, asdict, astuple, replace, fields


@dataclass
class Item:
    name: str
    price: float
    qty: int = 1
    tags: list = field(default_factory=list)

    @property
    def total(self) -> float:
        return self.price * self.qty


@dataclass(order=True)
class Task:
    priority: int
    title: str = field(compare=False)
    done: bool = field(default=False, compare=False, repr=False)


@dataclass
class Order:
    number: int
    items: list[Item] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def add(self, *items: Item) -> "Order":
        self.items.extend(items)
        return self

    @property
    def total(self) -> float:
        return round(sum(i.total for i in self.items), 2)


lamp = Item("lamp", 19.5, 2, ["home"])
order = Order(7).add(lamp, Item("pen", 1.25))
cheaper = replace(lamp, price=10.0)
tasks = sorted([Task(3, "sleep"), Task(1, "eat", True), Task(2, "work")])
result = {
    "total": order.total,
    "dict": asdict(order),
    "tuple": astuple(cheaper),
    "tasks": [repr(t) for t in tasks],
    "equal": Item("a", 1.0) == Item("a", 1.0),
    "fields": [f.name for f in fields(Item)],
    "min": min(tasks) < Task(2, "anything"),
}
#= {"total": 40.25, "dict": {"number": 7, "items": [{"name": "lamp", "price": 19.5, "qty": 2, "tags": ["home"]}, {"name": "pen", "price": 1.25, "qty": 1, "tags": []}], "notes": {}}, "tuple": ["lamp", 10.0, 2, ["home"]], "tasks": ["Task(priority=1, title='eat')", "Task(priority=2, title='work')", "Task(priority=3, title='sleep')"], "equal": true, "fields": ["name", "price", "qty", "tags"], "min": true}

#: frozen-dataclass
#: Frozen dataclasses with computed fields set through object.__setattr__.
from dataclasses import dataclass, field, FrozenInstanceError, replace
import math


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def distance(self, other):
        return math.dist((self.x, self.y), (other.x, other.y))


@dataclass(frozen=True)
class Segment:
    a: Point
    b: Point
    length: float = field(init=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "length", self.a.distance(self.b))


s = Segment(Point(0, 0), Point(3, 4))
try:
    s.length = 1
    frozen = False
except FrozenInstanceError:
    frozen = True
visited = {Point(1, 2), Point(1, 2), Point(2, 1)}
longer = replace(s, b=Point(6, 8))
result = [s.length, longer.length, frozen, len(visited), repr(Point(1) + Point(2, 5)), s == Segment(Point(0, 0), Point(3, 4))]
#= [5.0, 10.0, true, 2, "Point(x=3, y=5.0)", true]

#: dataclass-inheritance
#: Inherited dataclasses with post-init checks and a ClassVar registry.
from dataclasses import dataclass, field
from typing import ClassVar, Optional


@dataclass
class Unit:
    name: str
    hp: int = 10
    alive: bool = field(init=False, default=True)
    _all: ClassVar[dict] = {}

    def __post_init__(self):
        if self.hp <= 0:
            raise ValueError(f"{self.name} needs hp")
        Unit._all[self.name] = self

    def hit(self, damage):
        self.hp = max(0, self.hp - damage)
        self.alive = self.hp > 0
        return self


@dataclass
class Soldier(Unit):
    armor: int = 0
    leader: Optional["Soldier"] = None

    def __post_init__(self):
        super().__post_init__()
        self.rank = "captain" if self.leader is None else "private"

    def hit(self, damage):
        return super().hit(max(0, damage - self.armor))


@dataclass
class Mage(Unit):
    mana: int = 5
    spells: list = field(default_factory=lambda: ["spark"])


cap = Soldier("Bo", 20, armor=3)
men = [Soldier(f"S{i}", leader=cap) for i in range(2)]
mage = Mage("Zed", mana=9)
mage.spells.append("fire")
for u in Unit._all.values():
    u.hit(11)
try:
    Mage("Ghost", hp=0)
    error = None
except ValueError as e:
    error = str(e)
result = {"units": {n: [u.hp, u.alive] for n, u in Unit._all.items()}, "ranks": [cap.rank, men[0].rank], "mage": repr(mage), "fresh": Mage("Tim").spells, "error": error}
#= {"units": {"Bo": [12, true], "S0": [0, false], "S1": [0, false], "Zed": [0, false]}, "ranks": ["captain", "private"], "mage": "Mage(name='Zed', hp=0, alive=False, mana=9, spells=['spark', 'fire'])", "fresh": ["spark"], "error": "Ghost needs hp"}

#: dataclass-initvar
#: InitVar parameters, hash control and custom repr.
from dataclasses import dataclass, field, InitVar
import hashlib


@dataclass(unsafe_hash=True)
class User:
    login: str
    password: InitVar[str]
    salt: InitVar[bytes] = b"salt"
    digest: str = field(init=False, repr=False, hash=False)
    logins: int = field(default=0, compare=False)

    def __post_init__(self, password, salt):
        self.digest = hashlib.sha256(salt + password.encode()).hexdigest()

    def check(self, password, salt=b"salt"):
        ok = hashlib.sha256(salt + password.encode()).hexdigest() == self.digest
        self.logins += ok
        return ok


u = User("ann", "secret")
v = User("ann", "secret")
checks = [u.check("wrong"), u.check("secret"), u.check("secret")]
result = [repr(u), checks, u == v, u == User("ann", "other"), len({u, v}), u.digest[:12]]
#= ["User(login='ann', logins=2)", [false, true, true], true, false, 1, "bede90386d45"]

#: dataclass-slots-kwonly
#: Dataclasses with slots and keyword-only fields.
#: since 3.10
from dataclasses import dataclass, field, KW_ONLY, asdict


@dataclass(slots=True)
class Particle:
    x: float
    v: float
    trail: list[float] = field(default_factory=list)

    def step(self, dt: float) -> None:
        self.trail.append(self.x)
        self.x += self.v * dt


@dataclass(kw_only=True, frozen=True, slots=True)
class Options:
    verbose: bool = False
    level: int


@dataclass
class Request:
    path: str
    _: KW_ONLY
    method: str = "GET"
    headers: dict = field(default_factory=dict)


p = Particle(0.0, 2.0)
for _ in range(4):
    p.step(0.5)
try:
    p.mass = 1
    slots = False
except AttributeError:
    slots = True
try:
    Request("/", "POST")
    positional = True
except TypeError:
    positional = False
result = [p.x, p.trail, slots, positional, asdict(Options(level=3)), repr(Request("/a", method="PUT"))]
#= [4.0, [0.0, 1.0, 2.0, 3.0], true, false, {"verbose": false, "level": 3}, "Request(path='/a', method='PUT', headers={})"]

#: namedtuple-functional
#: collections.namedtuple with defaults and the underscore helpers.
from collections import namedtuple

Point = namedtuple("Point", "x y z", defaults=[0])
Row = namedtuple("Row", ["id", "class", "name"], rename=True)


class Pixel(namedtuple("Pixel", "r g b")):
    __slots__ = ()

    @property
    def hex(self):
        return "#%02x%02x%02x" % self

    @classmethod
    def parse(cls, text):
        return cls._make(int(text[i:i + 2], 16) for i in (1, 3, 5))


p = Point(1, 2)
moved = p._replace(x=10)
records = [Row._make(line.split(",")) for line in ("1,a,Ann", "2,b,Bob")]
pixel = Pixel.parse("#ff8000")
x, *rest = moved
result = {
    "fields": Point._fields,
    "defaults": Point._field_defaults,
    "moved": moved._asdict(),
    "repr": repr(p),
    "row_fields": Row._fields,
    "names": [r.name for r in records],
    "hex": pixel.hex,
    "darker": pixel._replace(r=0).hex,
    "unpacked": [x, rest],
    "index": moved.index(2) + p.count(0),
}
#= {"fields": ["x", "y", "z"], "defaults": {"z": 0}, "moved": {"x": 10, "y": 2, "z": 0}, "repr": "Point(x=1, y=2, z=0)", "row_fields": ["id", "_1", "name"], "names": ["Ann", "Bob"], "hex": "#ff8000", "darker": "#008000", "unpacked": [10, [2, 0]], "index": 2}

#: namedtuple-typed
#: typing.NamedTuple with methods, defaults and use as a dictionary key.
from typing import NamedTuple, Optional
from collections import defaultdict


class Employee(NamedTuple):
    """One line of the staff list."""

    name: str
    dept: str
    salary: int = 1000
    boss: Optional[str] = None

    @property
    def yearly(self) -> int:
        return self.salary * 12

    def promoted(self, percent: int) -> "Employee":
        return self._replace(salary=self.salary * (100 + percent) // 100)


class Key(NamedTuple):
    dept: str
    senior: bool


staff = [
    Employee("Ann", "dev", 3000),
    Employee("Bob", "dev", 2000, "Ann"),
    Employee("Cy", "ops", boss="Ann"),
]
groups = defaultdict(list)
for e in staff:
    groups[Key(e.dept, e.salary > 2500)].append(e.name)
for name, dept, salary, boss in staff:
    assert isinstance(salary, int), name
result = {
    "fields": list(Employee._fields),
    "defaults": Employee._field_defaults,
    "yearly": [e.yearly for e in staff],
    "promoted": staff[1].promoted(15)._asdict(),
    "groups": {f"{k.dept}/{k.senior}": v for k, v in groups.items()},
    "sorted": [e.name for e in sorted(staff, key=lambda e: (-e.salary, e.name))],
    "is_tuple": isinstance(staff[0], tuple) and staff[0][:2] == ("Ann", "dev"),
}
#= {"fields": ["name", "dept", "salary", "boss"], "defaults": {"salary": 1000, "boss": null}, "yearly": [36000, 24000, 12000], "promoted": {"name": "Bob", "dept": "dev", "salary": 2300, "boss": "Ann"}, "groups": {"dev/True": ["Ann"], "dev/False": ["Bob"], "ops/False": ["Cy"]}, "sorted": ["Ann", "Bob", "Cy"], "is_tuple": true}

#: dataclass-json-round-trip
#: Nested dataclasses to JSON and back with a small schema.
from __future__ import annotations

import json
from dataclasses import dataclass, field, asdict, is_dataclass


@dataclass
class Address:
    street: str
    city: str
    zip: str = ""

    @classmethod
    def from_dict(cls, data):
        return cls(**{k: data[k] for k in ("street", "city", "zip") if k in data})


@dataclass
class Person:
    name: str
    age: int
    address: Address
    friends: list[Person] = field(default_factory=list)

    @classmethod
    def from_dict(cls, data: dict) -> Person:
        return cls(
            name=data["name"],
            age=int(data["age"]),
            address=Address.from_dict(data["address"]),
            friends=[cls.from_dict(f) for f in data.get("friends", [])],
        )

    def walk(self):
        yield self
        for friend in self.friends:
            yield from friend.walk()


home = Address("Main 1", "Ulm", "89073")
tree = Person("Ann", 40, home, [Person("Bob", 30, home), Person("Cy", 20, Address("Side 2", "Bonn"), [Person("Di", 10, home)])])
text = json.dumps(asdict(tree), sort_keys=True)
again = Person.from_dict(json.loads(text))
result = [again == tree, again is tree, [p.name for p in again.walk()], is_dataclass(again), is_dataclass(text), len(text), again.friends[1].address.city]
#= [true, false, ["Ann", "Bob", "Cy", "Di"], true, false, 416, "Bonn"]

#: immutable-value-objects
#: Value objects with slots, equality and hashing, made immutable by hand.
class Immutable:
    __slots__ = ()

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name):
        raise AttributeError(f"{type(self).__name__} is immutable")


class Interval(Immutable):
    __slots__ = ("lo", "hi")

    def __init__(self, lo, hi):
        if lo > hi:
            lo, hi = hi, lo
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)

    def __eq__(self, other):
        return isinstance(other, Interval) and (self.lo, self.hi) == (other.lo, other.hi)

    def __hash__(self):
        return hash(("Interval", self.lo, self.hi))

    def __contains__(self, x):
        return self.lo <= x < self.hi

    def __and__(self, other):
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Interval(lo, hi) if lo < hi else None

    def __or__(self, other):
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))

    def __len__(self):
        return self.hi - self.lo

    def __repr__(self):
        return f"[{self.lo}, {self.hi})"


def merge(intervals):
    out = []
    for i in sorted(intervals, key=lambda i: i.lo):
        if out and i.lo <= out[-1].hi:
            out[-1] = out[-1] | i
        else:
            out.append(i)
    return out


data = [Interval(1, 4), Interval(9, 6), Interval(3, 5), Interval(8, 12)]
try:
    data[0].lo = 0
    error = None
except AttributeError as e:
    error = str(e)
result = [repr(merge(data)), repr(data[0] & data[2]), data[0] & data[3], 3 in data[0], len(data[3]), len({Interval(1, 2), Interval(2, 1)}), error]
#= ["[[1, 5), [6, 12)]", "[3, 4)", null, true, 4, 1, "Interval is immutable"]
