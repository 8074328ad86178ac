#: cooperative-mixins
#: Mixins with cooperative super calls and a diamond.
class Base:
    def __init__(self, **rest):
        if rest:
            raise TypeError(f"unexpected: {sorted(rest)}")
        self.tags = ["base"]

    def describe(self):
        return []


class Named(Base):
    def __init__(self, *, name, **rest):
        super().__init__(**rest)
        self.name = name
        self.tags.append("named")

    def describe(self):
        return super().describe() + [f"name={self.name}"]


class Located(Base):
    def __init__(self, *, at=(0, 0), **rest):
        super().__init__(**rest)
        self.at = at
        self.tags.append("located")

    def describe(self):
        return super().describe() + ["at={},{}".format(*self.at)]


class Tower(Named, Located):
    height: int = 10

    def __init__(self, height=None, **rest):
        super().__init__(**rest)
        if height is not None:
            self.height = height

    def describe(self):
        return [*super().describe(), f"height={self.height}"]


t = Tower(name="keep", at=(3, 4), height=25)
try:
    Tower(name="x", colour="red")
    error = None
except TypeError as e:
    error = str(e)
result = [t.describe(), t.tags, [c.__name__ for c in (Tower, Named, Located) if isinstance(t, c)], isinstance(t, Located), issubclass(Tower, Named), error]
#= [["at=3,4", "name=keep", "height=25"], ["base", "located", "named"], ["Tower", "Named", "Located"], true, true, "unexpected: ['colour']"]

#: total-ordering-versions
#: Version numbers with total_ordering, sorting and hashing.
from functools import total_ordering


@total_ordering
class Version:
    def __init__(self, text):
        number, _, self.pre = text.partition("-")
        self.parts = tuple(int(p) for p in number.split("."))

    def _key(self):
        return self.parts, self.pre == "", self.pre

    def __eq__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() == other._key()

    def __lt__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() < other._key()

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        return ".".join(map(str, self.parts)) + (f"-{self.pre}" if self.pre else "")

    def bump(self, index):
        parts = list(self.parts[: index + 1])
        parts[index] += 1
        parts += [0] * (len(self.parts) - len(parts))
        return type(self)(".".join(map(str, parts)))


versions = [Version(v) for v in "1.10.0 1.2.0 1.2.0-rc1 2.0.0-beta 1.9.9".split()]
newest = max(versions)
result = {
    "sorted": [str(v) for v in sorted(versions)],
    "newest": str(newest),
    "ge": Version("1.2.0") >= Version("1.2.0-rc1"),
    "ne": Version("1.0.0") != "1.0.0",
    "unique": len({Version("1.0.0"), Version("1.0.0"), Version("1.0.1")}),
    "bump": str(Version("1.9.9").bump(1)),
}
#= {"sorted": ["1.2.0-rc1", "1.2.0", "1.9.9", "1.10.0", "2.0.0-beta"], "newest": "2.0.0-beta", "ge": true, "ne": true, "unique": 2, "bump": "1.10.0"}

#: class-decorators
#: Class decorators that register, add methods and count instances.
COMMANDS = {}


def command(name, *aliases, hidden=False):
    def decorate(cls):
        cls.command_name = name
        cls.hidden = hidden
        for key in (name, *aliases):
            COMMANDS[key] = cls
        return cls

    return decorate


def comparable(*fields):
    def decorate(cls):
        def key(self):
            return tuple(self.as_dict()[f] for f in fields)

        def before(self, other):
            return key(self) < key(other)

        cls.key = key
        cls.before = before
        return cls

    return decorate


@command("move", "go", "mv")
@comparable("cost", "steps")
class Move:
    def __init__(self, steps, cost=1):
        self.steps, self.cost = steps, cost

    def as_dict(self):
        return {"steps": self.steps, "cost": self.cost}


@command("cheat", hidden=True)
class Cheat:
    def __init__(self, code):
        self.code = code


def parse(line):
    word, *args = line.split()
    cls = COMMANDS.get(word)
    if cls is None:
        return f"unknown {word}"
    return f"{cls.command_name}({', '.join(args)})"


result = {
    "parsed": [parse(s) for s in ("go 3", "mv 1", "fly", "cheat idkfa")],
    "visible": sorted(k for k, c in COMMANDS.items() if not c.hidden),
    "before": Move(3, 1).before(Move(1, 2)),
    "key": Move(3, 1).key(),
}
#= {"parsed": ["move(3)", "move(1)", "unknown fly", "cheat(idkfa)"], "visible": ["go", "move", "mv"], "before": true, "key": [1, 3]}

#: container-subclasses
#: Subclasses of dict, list, str and int that add behaviour.
class CaseDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__()
        for k, v in dict(*args, **kwargs).items():
            self[k] = v

    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __getitem__(self, key):
        return super().__getitem__(key.lower())

    def __contains__(self, key):
        return super().__contains__(key.lower())

    def __missing__(self, key):
        return f"<{key}>"


class Stack(list):
    push = list.append

    @property
    def top(self):
        return self[-1] if self else None


class Celsius(float):
    def __new__(cls, value):
        if value < -273.15:
            raise ValueError("below absolute zero")
        return super().__new__(cls, value)

    @property
    def fahrenheit(self):
        return self * 9 / 5 + 32

    def __format__(self, spec):
        return format(float(self), spec or ".1f") + "°C"


class Slug(str):
    def __new__(cls, text):
        return super().__new__(cls, "-".join(text.lower().split()))


headers = CaseDict({"Content-Type": "text/plain"}, Accept="*/*")
headers["HOST"] = "example"
s = Stack("ab")
s.push("c")
try:
    Celsius(-300)
    cold = None
except ValueError as e:
    cold = str(e)
result = [headers["content-type"], "host" in headers, headers["Nope"], sorted(headers), s.top, s.pop() + s.top, Celsius(100).fahrenheit, f"{Celsius(21.456)} {Celsius(3):.2f}", Slug("Hello Big  World"), cold]
#= ["text/plain", true, "<nope>", ["accept", "content-type", "host"], "c", "cb", 212.0, "21.5\u00b0C 3.00\u00b0C", "hello-big-world", "below absolute zero"]

#: polynomial
#: A polynomial class that is callable and has derivative, product and division.
class Polynomial:
    def __init__(self, *coefficients):
        cs = list(coefficients)
        while len(cs) > 1 and cs[-1] == 0:
            cs.pop()
        self.c = tuple(cs) or (0,)

    @property
    def degree(self):
        return len(self.c) - 1

    def __call__(self, x):
        value = 0
        for c in reversed(self.c):
            value = value * x + c
        return value

    def __add__(self, other):
        n = max(len(self.c), len(other.c))
        a = self.c + (0,) * (n - len(self.c))
        b = other.c + (0,) * (n - len(other.c))
        return Polynomial(*(x + y for x, y in zip(a, b)))

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Polynomial(*(c * other for c in self.c))
        out = [0] * (len(self.c) + len(other.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c):
                out[i + j] += a * b
        return Polynomial(*out)

    __rmul__ = __mul__
    __radd__ = __add__

    def __divmod__(self, other):
        rest, quotient = list(self.c), [0] * max(1, self.degree - other.degree + 1)
        for shift in range(self.degree - other.degree, -1, -1):
            factor = rest[shift + other.degree] // other.c[-1]
            quotient[shift] = factor
            for i, c in enumerate(other.c):
                rest[shift + i] -= factor * c
        return Polynomial(*quotient), Polynomial(*rest)

    def derivative(self):
        return Polynomial(*(i * c for i, c in enumerate(self.c) if i))

    def __str__(self):
        terms = []
        for power, c in reversed(list(enumerate(self.c))):
            if c:
                terms.append(f"{c:+d}" + ("" if power == 0 else "x" if power == 1 else f"x^{power}"))
        return " ".join(terms) or "0"


p = Polynomial(-6, 11, -6, 1)
q, r = divmod(p, Polynomial(-1, 1))
result = [str(p), [p(x) for x in range(5)], str(p.derivative()), str(q), str(r), str(2 * q + q), (q * q).degree]
#= ["+1x^3 -6x^2 +11x -6", [-6, 0, 0, 0, 6], "+3x^2 -12x +11", "+1x^2 -5x +6", "0", "+3x^2 -15x +18", 4]

#: tracked-copies
#: Copy and deepcopy of nested own objects, with and without hooks.
import copy


class Item:
    def __init__(self, name, tags):
        self.name = name
        self.tags = tags


class Bag:
    copies = 0

    def __init__(self, items, owner=None):
        self.items = items
        self.owner = owner

    def __copy__(self):
        Bag.copies += 1
        return type(self)(list(self.items), self.owner)

    def __deepcopy__(self, memo):
        Bag.copies += 1
        twin = type(self)([])
        memo[id(self)] = twin
        twin.items = copy.deepcopy(self.items, memo)
        twin.owner = copy.deepcopy(self.owner, memo)
        return twin


class Owner:
    def __init__(self, name):
        self.name = name
        self.bag = None


hero = Owner("Ann")
hero.bag = Bag([Item("rope", ["long"]), Item("torch", [])], hero)
shallow = copy.copy(hero.bag)
deep = copy.deepcopy(hero.bag)
deep.items[0].tags.append("burnt")
shallow.items.append(Item("map", []))
plain = copy.deepcopy({"k": [1, (2, [3])], "item": Item("x", ["y"])})
result = {
    "original": [(i.name, i.tags) for i in hero.bag.items],
    "shallow": len(shallow.items),
    "deep": [(i.name, i.tags) for i in deep.items],
    "cycle": deep.owner.bag is deep and deep.owner is not hero,
    "copies": Bag.copies,
    "plain": [plain["k"], plain["item"].tags],
}
#= {"original": [["rope", ["long"]], ["torch", []]], "shallow": 3, "deep": [["rope", ["long", "burnt"]], ["torch", []]], "cycle": true, "copies": 2, "plain": [[1, [2, [3]]], ["y"]]}

#: private-names-and-dunders
#: Name mangling, module metadata, docstrings and harmless dunder reads.
"""Small demo module."""

__version__ = "1.2.3"
__author__ = "The team"
__all__ = ["Safe"]


class Safe:
    """Holds a secret."""

    __limit = 3

    def __init__(self, secret):
        self.__secret = secret
        self.__tries = 0

    def __check(self, guess):
        self.__tries += 1
        return guess == self.__secret

    def unlock(self, guess):
        """Return True when the guess is right."""
        if self.__tries >= Safe.__limit:
            raise RuntimeError("locked for good")
        return self.__check(guess)


class PaddedSafe(Safe):
    def __init__(self, secret):
        super().__init__(secret * 2)
        self.__secret = "decoy"

    def decoy(self):
        return self.__secret


safe = PaddedSafe("ab")
tries = [safe.unlock(g) for g in ("decoy", "ab", "abab")]
try:
    safe.unlock("abab")
    last = None
except RuntimeError as e:
    last = str(e)
hidden = not hasattr(safe, "secret")
result = [tries, last, hidden, safe.decoy(), type(safe).__name__, Safe.__doc__, Safe.unlock.__doc__, Safe.unlock.__name__, Safe.unlock.__qualname__, __version__, __name__]
#= [[false, false, true], "locked for good", true, "decoy", "PaddedSafe", "Holds a secret.", "Return True when the guess is right.", "unlock", "Safe.unlock", "1.2.3", "__main__"]

#: number-like-money
#: A money type with coercion, rounding, formatting and index conversion.
from decimal import Decimal, ROUND_HALF_EVEN


class Money:
    def __init__(self, amount, currency="EUR"):
        self.amount = Decimal(str(amount)).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
        self.currency = currency

    def _same(self, other):
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} is not {other.currency}")
        return other.amount

    def __add__(self, other):
        return Money(self.amount + self._same(other), self.currency) if isinstance(other, Money) else NotImplemented

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, n):
        return Money(self.amount * Decimal(str(n)), self.currency)

    def __truediv__(self, other):
        if isinstance(other, Money):
            return float(self.amount / self._same(other))
        return Money(self.amount / other, self.currency)

    def __lt__(self, other):
        return self.amount < self._same(other)

    def __float__(self):
        return float(self.amount)

    def __int__(self):
        return int(self.amount)

    def __round__(self, digits=0):
        return Money(round(self.amount, digits), self.currency)

    def __format__(self, spec):
        return f"{self.amount:{spec or '.2f'}} {self.currency}"

    def split(self, n):
        cents = int(self.amount * 100)
        share, rest = divmod(cents, n)
        return [Money(Decimal(share + (i < rest)) / 100, self.currency) for i in range(n)]


prices = [Money(x) for x in ("19.99", "5.005", 0.1)]
try:
    prices[0] + Money(1, "USD")
    error = None
except ValueError as e:
    error = str(e)
result = [f"{sum(prices)}", f"{prices[0] * 100:,.1f}", prices[0] / Money(10), int(prices[0]), f"{round(prices[0])}", [f"{m}" for m in Money(10).split(3)], f"{min(prices)}", error]
#= ["25.09 EUR", "1,999.0 EUR", 1.999, 19, "20.00 EUR", ["3.34 EUR", "3.33 EUR", "3.33 EUR"], "0.10 EUR", "EUR is not USD"]

#: property-setters
#: Properties with setters and deleters, inherited and overridden.
class Temperature:
    def __init__(self, celsius=0.0):
        self._observers = []
        self.celsius = celsius

    @property
    def celsius(self):
        """Degrees in Celsius."""
        return self._celsius

    @celsius.setter
    def celsius(self, value):
        if value < -273.15:
            raise ValueError("too cold")
        old = self._celsius if hasattr(self, "_celsius") else None
        self._celsius = float(value)
        for notify in self._observers:
            notify(old, self._celsius)

    @celsius.deleter
    def celsius(self):
        self._celsius = 0.0

    @property
    def fahrenheit(self):
        return self.celsius * 1.8 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self.celsius = (value - 32) / 1.8

    def watch(self, callback):
        self._observers.append(callback)
        return callback


class Limited(Temperature):
    @property
    def celsius(self):
        return super().celsius

    @celsius.setter
    def celsius(self, value):
        Temperature.celsius.fset(self, min(value, 100))


class Rectangle:
    def __init__(self, w, h):
        self.w, self.h = w, h

    def _get_area(self):
        return self.w * self.h

    def _set_area(self, area):
        self.w = area / self.h

    area = property(_get_area, _set_area, doc="w times h")


changes = []
t = Temperature(20)
t.watch(lambda old, new: changes.append((old, round(new, 1))))
t.fahrenheit = 212
del t.celsius
t.celsius = 5
try:
    t.celsius = -300
    error = None
except ValueError as e:
    error = str(e)
hot = Limited(500)
r = Rectangle(3, 4)
r.area = 20
result = [changes, t.fahrenheit, error, hot.celsius, r.w, r.area, Temperature.celsius.__doc__, Rectangle.area.__doc__]
#= [[[20.0, 100.0], [0.0, 5.0]], 41.0, "too cold", 100.0, 5.0, 20.0, "Degrees in Celsius.", "w times h"]

#: class-level-protocols
#: Class-level indexing, own subscript syntax, inverse and comparison operators.
class Registry:
    def __init__(self):
        self._names = {}

    def __class_getitem__(cls, key):
        return f"{cls.__name__}[{key if isinstance(key, str) else key.__name__}]"

    def __setitem__(self, key, value):
        self._names[key] = value

    def __delitem__(self, key):
        del self._names[key]

    def __missing__(self, key):
        return f"no {key}"

    def __getitem__(self, key):
        return self._names[key] if key in self._names else self.__missing__(key)


class Query:
    def __init__(self, text):
        self.text = text

    def __and__(self, other):
        return Query(f"({self.text} AND {other.text})")

    def __or__(self, other):
        return Query(f"({self.text} OR {other.text})")

    def __invert__(self):
        return Query(f"NOT {self.text}")

    def __str__(self):
        return self.text


class Column:
    def __init__(self, name):
        self.name = name

    def __eq__(self, value):
        return Query(f"{self.name} = {value!r}")

    def __ne__(self, value):
        return Query(f"{self.name} <> {value!r}")

    def __gt__(self, value):
        return Query(f"{self.name} > {value!r}")

    def __le__(self, value):
        return Query(f"{self.name} <= {value!r}")

    def __mod__(self, pattern):
        return Query(f"{self.name} LIKE {pattern!r}")

    __hash__ = object.__hash__


class Table:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Column(name)


t, r = Table(), Registry()
r["a"] = 1
r["b"] = 2
del r["b"]
where = (t.age > 18) & ~(t.name % "A%") | (t.city == "Ulm")
result = [str(where), str(t.x != None), str(5 >= t.y), Registry["key"], Registry[int], r["a"], r["b"]]
#= ["((age > 18 AND NOT name LIKE 'A%') OR city = 'Ulm')", "x <> None", "y <= 5", "Registry[key]", "Registry[int]", 1, "no b"]

#: observer-and-state
#: Observers, a state pattern that swaps behaviour objects, and memento snapshots.
import copy


class Subject:
    def __init__(self):
        self._observers = []

    def attach(self, observer):
        if observer not in self._observers:
            self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def notify(self, *args):
        for observer in list(self._observers):
            observer(self, *args)


class State:
    def coin(self, machine):
        return self

    def push(self, machine):
        return self


class Locked(State):
    def coin(self, machine):
        machine.coins += 1
        return Unlocked()


class Unlocked(State):
    def coin(self, machine):
        machine.refunds += 1
        return self

    def push(self, machine):
        machine.visitors.append(f"visitor {len(machine.visitors) + 1}")
        return Locked()


class Turnstile(Subject):
    def __init__(self):
        super().__init__()
        self.state, self.coins, self.refunds, self.visitors = Locked(), 0, 0, []

    def handle(self, event):
        before = type(self.state)
        self.state = {"coin": self.state.coin, "push": self.state.push}[event](self)
        if type(self.state) is not before:
            self.notify(before.__name__, type(self.state).__name__)

    def snapshot(self):
        return copy.deepcopy((self.coins, self.refunds, self.visitors)), type(self.state)

    def restore(self, saved):
        (self.coins, self.refunds, self.visitors), kind = copy.deepcopy(saved[0]), saved[1]
        self.state = kind()


log = []
gate = Turnstile()
detach = gate.attach(lambda subject, old, new: log.append(f"{old}->{new} ({subject.coins})"))
for event in "push coin coin push coin".split():
    gate.handle(event)
saved = gate.snapshot()
detach()
gate.handle("push")
after = list(gate.visitors)
gate.restore(saved)
result = [log, after, gate.visitors, gate.coins, gate.refunds, type(gate.state).__name__]
#= [["Locked->Unlocked (1)", "Unlocked->Locked (1)", "Locked->Unlocked (2)"], ["visitor 1", "visitor 2"], ["visitor 1"], 2, 1, "Unlocked"]
