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
