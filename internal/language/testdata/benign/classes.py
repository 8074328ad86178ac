#: bank-account
#: A bank account with a history, properties and its own exceptions.
class InsufficientFunds(Exception):
    def __init__(self, needed, available):
        super().__init__(f"need {needed}, have {available}")
        self.needed = needed
        self.available = available


class Account:
    _next_number = 1000

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.__balance = balance
        self.__pin = "0000"
        self._history = []
        self.number = Account._next_number
        Account._next_number += 1

    @property
    def balance(self):
        return self.__balance

    def change_pin(self, old, new):
        if old != self.__pin:
            raise PermissionError("wrong pin")
        self.__pin = new

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("deposit must be positive")
        self.__balance += amount
        self._history.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.__balance:
            raise InsufficientFunds(amount, self.__balance)
        self.__balance -= amount
        self._history.append(("withdraw", amount))

    def __repr__(self):
        return f"{type(self).__name__}({self.owner!r}, {self.balance})"


alice, bob = Account("Alice", 100), Account("Bob")
alice.deposit(50)
errors = []
for action in (lambda: bob.withdraw(5), lambda: bob.deposit(-1), lambda: bob.change_pin("1", "2")):
    try:
        action()
    except (InsufficientFunds, ValueError, PermissionError) as e:
        errors.append(f"{type(e).__name__}: {e}")
alice.withdraw(30)
result = {"accounts": [repr(alice), repr(bob)], "history": alice._history, "errors": errors, "next": Account._next_number}
#= {"accounts": ["Account('Alice', 120)", "Account('Bob', 0)"], "history": [["deposit", 50], ["withdraw", 30]], "errors": ["InsufficientFunds: need 5, have 0", "ValueError: deposit must be positive", "PermissionError: wrong pin"], "next": 1002}

#: vector-operators
#: A 2D vector with arithmetic, reflected and in-place operators.
import math


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, k):
        if isinstance(k, Vector):
            return self.x * k.x + self.y * k.y
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __bool__(self):
        return bool(self.x or self.y)

    def __iter__(self):
        yield self.x
        yield self.y

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"


a, b = Vector(3, 4), Vector(1, -2)
total = Vector(0, 0)
for v in (a, b, 2 * b):
    total += v
try:
    a.z = 1
    slots_hold = False
except AttributeError:
    slots_hold = True
try:
    a + 1
    refused = False
except TypeError:
    refused = True
result = [repr(total), abs(a), a * b, list(a - b), bool(Vector(0, 0)), len({a, Vector(3, 4), b}), slots_hold, refused]
#= ["Vector(6, -2)", 5.0, -5, [2, 6], false, 2, true, true]

#: matrix-class
#: A matrix class with indexing by pairs, matmul, transpose and power.
class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]
        self.shape = (len(self.rows), len(self.rows[0]))

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    @staticmethod
    def _dot(u, v):
        return sum(a * b for a, b in zip(u, v))

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def __getitem__(self, key):
        if isinstance(key, tuple):
            i, j = key
            return self.rows[i][j]
        return self.rows[key]

    def __setitem__(self, key, value):
        i, j = key
        self.rows[i][j] = value

    def __matmul__(self, other):
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"shapes {self.shape} and {other.shape} do not fit")
        columns = list(zip(*other.rows))
        return Matrix([[self._dot(r, c) for c in columns] for r in self.rows])

    def __pow__(self, n):
        base, out = self, Matrix.identity(self.shape[0])
        while n:
            if n & 1:
                out = out @ base
            base = base @ base
            n >>= 1
        return out

    def det(self):
        if self.shape == (1, 1):
            return self[0, 0]
        minor = lambda j: Matrix([r[:j] + r[j + 1:] for r in self.rows[1:]])
        return sum((-1) ** j * self[0, j] * minor(j).det() for j in range(self.shape[1]))


fib = Matrix([[1, 1], [1, 0]]) ** 90
m = Matrix([[2, 0, 1], [1, 3, 2], [1, 1, 1]])
m[2, 2] = 4
try:
    m @ fib
    message = None
except ValueError as e:
    message = str(e)
result = {"fib90": fib[0, 1], "det": m.det(), "T": m.T.rows, "row": m[1], "message": message}
#= {"fib90": 2880067194370816120, "det": 18, "T": [[2, 1, 1], [0, 3, 1], [1, 2, 4]], "row": [1, 3, 2], "message": "shapes (3, 3) and (2, 2) do not fit"}

#: lru-cache-class
#: An LRU cache on a doubly linked list with sentinels.
class Node:
    __slots__ = "key", "value", "prev", "next"

    def __init__(self, key=None, value=None):
        self.key, self.value = key, value
        self.prev = self.next = None


class LRUCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self._map = {}
        self._head, self._tail = Node(), Node()
        self._head.next, self._tail.prev = self._tail, self._head
        self.hits = self.misses = 0

    def _unlink(self, node):
        node.prev.next, node.next.prev = node.next, node.prev

    def _push_front(self, node):
        node.next, node.prev = self._head.next, self._head
        self._head.next.prev = node
        self._head.next = node

    def get(self, key, default=None):
        node = self._map.get(key)
        if node is None:
            self.misses += 1
            return default
        self.hits += 1
        self._unlink(node)
        self._push_front(node)
        return node.value

    def put(self, key, value):
        if key in self._map:
            self._unlink(self._map.pop(key))
        elif len(self._map) >= self.capacity:
            oldest = self._tail.prev
            self._unlink(oldest)
            del self._map[oldest.key]
        node = self._map[key] = Node(key, value)
        self._push_front(node)

    def __len__(self):
        return len(self._map)

    def __contains__(self, key):
        return key in self._map

    def __iter__(self):
        node = self._head.next
        while node is not self._tail:
            yield node.key
            node = node.next


cache = LRUCache(3)
for i, word in enumerate("one two three one four five one".split()):
    if cache.get(word) is None:
        cache.put(word, i)
result = [list(cache), len(cache), "two" in cache, cache.hits, cache.misses, cache.get("none", -1)]
#= [["one", "five", "four"], 3, false, 2, 5, -1]

#: linked-list
#: A singly linked list with the container protocols and an inner class.
class LinkedList:
    class _Cell:
        def __init__(self, value, rest):
            self.value = value
            self.rest = rest

    def __init__(self, items=()):
        self._first = None
        self._size = 0
        for item in reversed(list(items)):
            self.push(item)

    def push(self, value):
        self._first = self._Cell(value, self._first)
        self._size += 1
        return self

    def pop(self):
        if self._first is None:
            raise IndexError("pop from empty list")
        cell, self._first = self._first, self._first.rest
        self._size -= 1
        return cell.value

    def __iter__(self):
        cell = self._first
        while cell:
            yield cell.value
            cell = cell.rest

    def __len__(self):
        return self._size

    def __contains__(self, value):
        return any(v == value for v in self)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        for i, value in enumerate(self):
            if i == index:
                return value
        raise IndexError(index)

    def __reversed__(self):
        out = type(self)()
        for value in self:
            out.push(value)
        return iter(out)

    def __eq__(self, other):
        return list(self) == list(other)

    __hash__ = None

    def __str__(self):
        return " -> ".join(map(str, self)) or "empty"


numbers = LinkedList(range(5)).push(99)
try:
    hash(numbers)
    hashable = True
except TypeError:
    hashable = False
result = [str(numbers), len(numbers), 3 in numbers, str(numbers[1:4]), list(reversed(numbers)), numbers.pop(), numbers == LinkedList(range(5)), hashable, str(LinkedList())]
#= ["99 -> 0 -> 1 -> 2 -> 3 -> 4", 6, true, "0 -> 1 -> 2", [4, 3, 2, 1, 0, 99], 99, true, false, "empty"]

#: validated-descriptors
#: Field descriptors that validate, keep per-instance values and know their name.
class Field:
    def __init__(self, kind, default=None):
        self.kind = kind
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name
        self.slot = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return instance._values.get(self.name, self.default)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name} must be {self.kind.__name__}, not {type(value).__name__}")
        instance._values[self.name] = self.check(value)

    def __delete__(self, instance):
        instance._values.pop(self.name, None)

    def check(self, value):
        return value


class Positive(Field):
    def check(self, value):
        if value <= 0:
            raise ValueError(f"{self.name} must be positive")
        return value


class Product:
    name = Field(str, "unnamed")
    price = Positive(float, 1.0)
    stock = Positive(int, 1)

    def __init__(self, **values):
        self._values = {}
        if "name" in values:
            self.name = values["name"]
        if "price" in values:
            self.price = values["price"]
        if "stock" in values:
            self.stock = values["stock"]


p = Product(name="lamp", price=19.5)
problems = []
for bad in ({"name": 3}, {"price": -1.0}, {"stock": "many"}):
    try:
        Product(**bad)
    except (TypeError, ValueError) as e:
        problems.append(str(e))
del p.name
result = {"name": p.name, "price": p.price, "stock": p.stock, "slot": Product.price.slot, "problems": problems}
#= {"name": "unnamed", "price": 19.5, "stock": 1, "slot": "_price", "problems": ["name must be str, not int", "price must be positive", "stock must be int, not str"]}

#: plugin-registry
#: Subclasses register themselves through __init_subclass__ with keyword arguments.
class Plugin:
    _registry = {}
    priority = 0

    def __init_subclass__(cls, *, key=None, priority=0, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.priority = priority
        cls._registry[key or cls.__name__.lower()] = cls

    @classmethod
    def create(cls, key, *args):
        try:
            return cls._registry[key](*args)
        except KeyError:
            raise LookupError(f"no plugin {key!r}; known: {', '.join(sorted(cls._registry))}") from None

    def apply(self, text):
        raise NotImplementedError


class Upper(Plugin):
    def apply(self, text):
        return text.upper()


class Repeat(Plugin, key="x", priority=5):
    def __init__(self, times):
        self.times = times

    def apply(self, text):
        return text * self.times


class Chain(Plugin, priority=9):
    def __init__(self, *parts):
        self.parts = sorted(parts, key=lambda p: -p.priority)

    def apply(self, text):
        for part in self.parts:
            text = part.apply(text)
        return text


chain = Plugin.create("chain", Plugin.create("upper"), Plugin.create("x", 3))
try:
    Plugin.create("missing")
except LookupError as e:
    error = str(e)
result = [chain.apply("ab"), error, {k: c.priority for k, c in Plugin._registry.items()}]
#= ["ABABAB", "no plugin 'missing'; known: chain, upper, x", {"upper": 0, "x": 5, "chain": 9}]

#: singleton-and-counter
#: A singleton through __new__, a class counter and alternative constructors.
class Settings:
    _instance = None

    def __new__(cls, *args, **kwargs):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.values = {}
        return cls._instance

    def set(self, name, value):
        self.values[name] = value
        return self


class Ticket:
    count = 0
    open_tickets = []

    def __init__(self, title, level="low"):
        Ticket.count += 1
        self.id = Ticket.count
        self.title, self.level = title, level
        self.open_tickets.append(self)

    @classmethod
    def parse(cls, line):
        title, _, level = line.partition("/")
        return cls(title.strip(), level.strip() or "low")

    def close(self):
        self.open_tickets.remove(self)


Settings().set("lang", "en")
Settings().set("theme", "dark")
tickets = [Ticket.parse(s) for s in ("crash / high", "typo", "slow/mid")]
tickets[1].close()
result = {
    "same": Settings() is Settings(),
    "values": Settings().values,
    "count": Ticket.count,
    "open": [(t.id, t.title, t.level) for t in Ticket.open_tickets],
}
#= {"same": true, "values": {"lang": "en", "theme": "dark"}, "count": 3, "open": [[1, "crash", "high"], [3, "slow", "mid"]]}

#: attribute-fallback
#: Records with dotted access through __getattr__ and change tracking through __setattr__.
class Record:
    def __init__(self, data):
        super().__setattr__("_data", dict(data))
        super().__setattr__("_dirty", set())

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            value = self._data[name]
        except KeyError:
            raise AttributeError(f"no field {name}") from None
        return Record(value) if isinstance(value, dict) else value

    def __setattr__(self, name, value):
        if self._data.get(name) != value:
            self._dirty.add(name)
        self._data[name] = value

    def __delattr__(self, name):
        self._data.pop(name)
        self._dirty.add(name)

    def __contains__(self, name):
        return name in self._data

    def __len__(self):
        return len(self._data)


config = Record({"host": "local", "port": 80, "tls": {"on": True, "ciphers": ["a", "b"]}})
config.port = 443
config.host = "local"
config.timeout = 2.5
del config.tls
try:
    config.missing
    error = None
except AttributeError as e:
    error = str(e)
nested = Record({"a": {"b": {"c": 42}}})
result = [config.port, sorted(config._dirty), len(config), "tls" in config, hasattr(config, "host"), hasattr(config, "nope"), error, nested.a.b.c]
#= [443, ["port", "timeout", "tls"], 3, false, true, false, "no field missing", 42]

#: context-managers
#: Context manager classes that nest, suppress and undo.
class Timer:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(f"start {self.name}")
        return self

    def __exit__(self, exc_type, exc, tb):
        self.log.append(f"stop {self.name}" + (f" ({exc_type.__name__})" if exc_type else ""))
        return False


class Suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        self.caught = None
        return self

    def __exit__(self, t, e, tb):
        if t is not None and issubclass(t, self.kinds):
            self.caught = f"{t.__name__}: {e}"
            return True


class Transaction:
    def __init__(self, store):
        self.store = store

    def __enter__(self):
        self._backup = dict(self.store)
        return self.store

    def __exit__(self, *exc_info):
        if exc_info[0] is not None:
            self.store.clear()
            self.store.update(self._backup)


log, store = [], {"gold": 10}
with Suppress(ValueError, KeyError) as guard, Timer(log, "outer"):
    with Timer(log, "inner"), Transaction(store) as s:
        s["gold"] -= 100
        if s["gold"] < 0:
            raise ValueError("negative gold")
with Transaction(store) as s:
    s["gold"] += 5
result = [log, guard.caught, store]
#= [["start outer", "start inner", "stop inner (ValueError)", "stop outer (ValueError)"], "ValueError: negative gold", {"gold": 15}]

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
