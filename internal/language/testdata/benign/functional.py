#: decorator-basics
#: Decorators with wraps, arguments, state on the function and stacking.
import functools


def trace(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        value = func(*args, **kwargs)
        shown = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])
        LOG.append(f"{func.__name__}({shown}) -> {value!r}")
        return value

    wrapper.calls = 0
    return wrapper


def retry(times, on=(ValueError,)):
    def decorate(func):
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return func(*args, **kwargs)
                except on as e:
                    LOG.append(f"attempt {attempt}: {e}")
            raise RuntimeError(f"{func.__name__} failed {times} times")

        wrapper.__name__ = func.__name__
        wrapper.__doc__ = func.__doc__
        return wrapper

    return decorate


LOG = []


@trace
def area(w, h=1):
    """Area of a box."""
    return w * h


@retry(3)
@trace
def flaky(state):
    """Fails twice."""
    state["n"] += 1
    if state["n"] < 3:
        raise ValueError(f"n={state['n']}")
    return "ok"


@retry(2, on=(KeyError,))
def never():
    raise KeyError("k")


area(2), area(2, h=5)
outcome = flaky({"n": 0})
try:
    never()
except RuntimeError as e:
    LOG.append(str(e))
result = {"log": LOG, "calls": area.calls, "names": [area.__name__, flaky.__name__, flaky.__doc__, area.__doc__], "outcome": outcome}
#= {"log": ["area(2) -> 2", "area(2, h=5) -> 10", "attempt 1: n=1", "attempt 2: n=2", "flaky({'n': 3}) -> 'ok'", "attempt 1: 'k'", "attempt 2: 'k'", "never failed 2 times"], "calls": 2, "names": ["area", "flaky", "Fails twice.", "Area of a box."], "outcome": "ok"}

#: decorator-classes
#: Decorators as classes, method decorators and a memo with limits.
import functools


class CountCalls:
    def __init__(self, func):
        functools.update_wrapper(self, func)
        self.func = func
        self.count = 0

    def __call__(self, *args, **kwargs):
        self.count += 1
        return self.func(*args, **kwargs)


class memoize:
    def __init__(self, limit=None):
        self.limit = limit

    def __call__(self, func):
        cache = {}

        @functools.wraps(func)
        def inner(*args):
            if args not in cache:
                if self.limit and len(cache) >= self.limit:
                    cache.pop(next(iter(cache)))
                cache[args] = func(*args)
            return cache[args]

        inner.cache = cache
        return inner


def checked(method):
    @functools.wraps(method)
    def inner(self, value):
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"{method.__name__}: {value} out of range")
        return method(self, value)

    return inner


@CountCalls
def greet(name):
    return f"hi {name}"


@memoize(limit=3)
def square(n):
    return n * n


class Dial:
    minimum, maximum = 0, 10

    def __init__(self):
        self.value = 5

    @checked
    def turn(self, value):
        self.value = value
        return self


dial = Dial().turn(7)
try:
    dial.turn(11)
    error = None
except ValueError as e:
    error = str(e)
greetings = [greet(n) for n in ("a", "b")]
squares = [square(n) for n in (1, 2, 3, 4, 4)]
result = [greetings, greet.count, greet.__name__, squares, sorted(k[0] for k in square.cache), dial.value, error, callable(greet)]
#= [["hi a", "hi b"], 2, "greet", [1, 4, 9, 16, 16], [2, 3, 4], 7, "turn: 11 out of range", true]

#: functools-tour
#: reduce, partial, partialmethod, cached_property, cmp_to_key and lru_cache.
from functools import reduce, partial, partialmethod, cached_property, cmp_to_key, lru_cache, cache
import operator


class Light:
    def __init__(self):
        self.level = 0

    def set_level(self, level):
        self.level = level
        return self

    on = partialmethod(set_level, 100)
    dim = partialmethod(set_level, level=30)


class Stats:
    computed = 0

    def __init__(self, xs):
        self.xs = xs

    @cached_property
    def total(self):
        Stats.computed += 1
        return sum(self.xs)


@lru_cache(maxsize=128)
def paths(r, c):
    return 1 if r == 0 or c == 0 else paths(r - 1, c) + paths(r, c - 1)


@cache
def collatz(n):
    return 1 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


compose = lambda *fs: reduce(lambda f, g: lambda x: f(g(x)), fs)
slugify = compose("-".join, str.split, str.lower)
power = partial(pow, 2)
base2 = partial(int, base=2)
by_len_then_alpha = cmp_to_key(lambda a, b: len(a) - len(b) or (a > b) - (a < b))
s = Stats([1, 2, 3])
info = [s.total, s.total, Stats.computed]
grid = paths(16, 16)
result = [
    slugify("Hello Functional World"),
    [power(n) for n in range(6)],
    base2("101010"),
    base2.keywords,
    sorted(["pear", "fig", "apple", "kiwi"], key=by_len_then_alpha),
    info,
    grid,
    paths.cache_info().currsize > 100,
    max(range(1, 1000), key=collatz),
    [Light().on().level, Light().dim().level],
    reduce(operator.mul, range(1, 11)),
    reduce(lambda acc, kv: {**acc, kv[0]: acc.get(kv[0], 0) + kv[1]}, [("a", 1), ("b", 2), ("a", 5)], {}),
]
#= ["hello-functional-world", [1, 2, 4, 8, 16, 32], 42, {"base": 2}, ["fig", "kiwi", "pear", "apple"], [6, 6, 1], 601080390, true, 871, [100, 30], 3628800, {"a": 6, "b": 2}]

#: singledispatch-shapes
#: singledispatch with explicit classes, annotations and stacked registration.
from functools import singledispatch, singledispatchmethod
from collections.abc import Mapping
from decimal import Decimal


class Circle:
    def __init__(self, r):
        self.r = r


class Square:
    def __init__(self, side):
        self.side = side


@singledispatch
def describe(value):
    return f"thing {type(value).__name__}"


@describe.register(Circle)
def _(c):
    return f"circle r={c.r}"


@describe.register
def _(s: Square):
    return f"square {s.side}x{s.side}"


@describe.register(int)
@describe.register(Decimal)
def _number(n):
    return f"number {n}"


@describe.register(list)
def _list(items):
    return "[" + "; ".join(map(describe, items)) + "]"


@describe.register(Mapping)
def _mapping(m):
    return "{" + ", ".join(f"{k}: {describe(v)}" for k, v in m.items()) + "}"


class Printer:
    def __init__(self, prefix):
        self.prefix = prefix

    @singledispatchmethod
    def show(self, value):
        return f"{self.prefix}?{value}"

    @show.register
    def _(self, value: str):
        return f"{self.prefix}'{value}'"

    @show.register(float)
    def _show_float(self, value):
        return f"{self.prefix}{value:.2f}"


p = Printer(">")
result = [describe([Circle(2), Square(3), 4, Decimal("1.5"), "x", True]), describe({"a": [1]}), p.show("s"), p.show(1.0), p.show(None), describe.dispatch(bool) is describe.dispatch(int)]
#= ["[circle r=2; square 3x3; number 4; number 1.5; thing str; number True]", "{a: [number 1]}", ">'s'", ">1.00", ">?None", true]

#: operator-helpers
#: operator.itemgetter, attrgetter, methodcaller and the plain functions.
import operator
from operator import itemgetter, attrgetter, methodcaller
from itertools import starmap, accumulate


class Author:
    def __init__(self, first, last):
        self.first, self.last = first, last


class Book:
    def __init__(self, title, year, author):
        self.title, self.year, self.author = title, year, author


books = [
    Book("  Emma ", 1815, Author("Jane", "Austen")),
    Book("Dracula", 1897, Author("Bram", "Stoker")),
    Book(" Persuasion", 1817, Author("Jane", "Austen")),
]
rows = [("b", 2, {"k": 9}), ("a", 2, {"k": 1}), ("c", 1, {"k": 5})]
OPS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "**": operator.pow, "<": operator.lt}


def calc(a, op, b):
    return OPS[op](a, b)


result = {
    "by_author": [b.title.strip() for b in sorted(books, key=attrgetter("author.last", "year"))],
    "titles": list(map(methodcaller("strip"), map(attrgetter("title"), books))),
    "replaced": methodcaller("replace", "a", "o")("banana"),
    "rows": [r[0] for r in sorted(rows, key=itemgetter(1, 0))],
    "pairs": list(map(itemgetter(0, -1), [[1, 2, 3], [4, 5, 6]])),
    "slices": itemgetter(slice(1, 3))("abcdef"),
    "calc": list(starmap(calc, [(7, "+", 2), (7, "//", 2), (2, "**", 10), (1, "<", 2)])),
    "running": list(accumulate([1, 2, 3, 4], operator.mul)),
    "contains": [operator.contains([1, 2], 2), operator.countOf("banana", "a"), operator.indexOf("abc", "c")],
    "neg": list(map(operator.neg, [1, -2])),
}
#= {"by_author": ["Emma", "Persuasion", "Dracula"], "titles": ["Emma", "Dracula", "Persuasion"], "replaced": "bonono", "rows": ["c", "a", "b"], "pairs": [[1, 3], [4, 6]], "slices": "bc", "calc": [9, 3, 1024, true], "running": [1, 2, 6, 24], "contains": [true, 3, 2], "neg": [-1, 2]}

#: closures-and-nonlocal
#: Closures with nonlocal state, late binding and factories.
def counter(start=0, step=1):
    value = start - step

    def tick():
        nonlocal value
        value += step
        return value

    def reset(to=start):
        nonlocal value
        value = to - step

    tick.reset = reset
    return tick


def make_stack():
    items = []
    return {
        "push": items.append,
        "pop": items.pop,
        "peek": lambda: items[-1] if items else None,
        "size": lambda: len(items),
    }


def throttle(limit):
    def decorate(f):
        left = limit

        def inner(*a):
            nonlocal left
            if left <= 0:
                return None
            left -= 1
            return f(*a)

        return inner

    return decorate


@throttle(2)
def shout(text):
    return text.upper()


total = 0


def add(n):
    global total
    total += n
    return total


tick = counter(10, 5)
ticks = [tick(), tick(), tick()]
tick.reset()
stack = make_stack()
for x in "abc":
    stack["push"](x)
late = [f() for f in [lambda: i for i in range(3)]]
early = [f() for f in [lambda i=i: i for i in range(3)]]
add(3), add(4)
result = [ticks, tick(), stack["pop"](), stack["peek"](), stack["size"](), late, early, [shout("a"), shout("b"), shout("c")], total]
#= [[10, 15, 20], 10, "c", "b", 2, [2, 2, 2], [0, 1, 2], ["A", "B", null], 7]

#: argument-passing
#: Positional-only, keyword-only, defaults, unpacking and forwarding.
def box(w, h=1, /, *, colour="red", **extra):
    return {"w": w, "h": h, "colour": colour, **extra}


def report(title, *rows, sep=", ", end="."):
    return title + ": " + sep.join(map(str, rows)) + end


def forward(func, *args, **kwargs):
    return func(*args, **kwargs)


def collect(value, into=None):
    into = [] if into is None else into
    into.append(value)
    return into


def swap(a, b, *rest):
    return (b, a, *rest)


first, *middle, last = range(6)
(a, b), [c, *d] = (1, 2), [3, 4, 5]
head, (x, (y, *z)) = "h", (1, (2, 3, 4))
errors = []
for call in (lambda: box(w=1), lambda: box(1, 2, 3), lambda: report()):
    try:
        call()
    except TypeError:
        errors.append("TypeError")
options = {"sep": " | ", "end": "!"}
result = [
    box(2),
    box(2, 3, colour="blue", w=9),
    report("nums", *range(3), **options),
    forward(report, "x", 1, end=""),
    [collect(1), collect(2)],
    swap(*[1, 2], *"ab"),
    [first, middle, last, a, b, c, d, head, x, y, z],
    errors,
    [*range(2), *{"k": 1}, *"xy"],
    {**{"a": 1}, "b": 2, **{"a": 3}},
    dict(zip("ab", (1, 2))) | {"c": 3},
]
#= [{"w": 2, "h": 1, "colour": "red"}, {"w": 9, "h": 3, "colour": "blue"}, "nums: 0 | 1 | 2!", "x: 1", [[1], [2]], [2, 1, "a", "b"], [0, [1, 2, 3, 4], 5, 1, 2, 3, [4, 5], "h", 1, 2, [3, 4]], ["TypeError", "TypeError", "TypeError"], [0, 1, "k", "x", "y"], {"a": 3, "b": 2}, {"a": 1, "b": 2, "c": 3}]

#: comprehensions
#: Nested, conditional and walrus comprehensions of every kind.
import math

matrix = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
words = "the quick brown fox jumps over the lazy dog".split()
primes = [n for n in range(2, 50) if all(n % d for d in range(2, math.isqrt(n) + 1))]
triples = [(a, b, c) for c in range(1, 21) for b in range(1, c) for a in range(1, b) if a * a + b * b == c * c]
result = {
    "transposed": [[row[i] for row in matrix] for i in range(3)],
    "flat_even": [x for row in matrix for x in row if x % 2 == 0],
    "diagonal": [matrix[i][i] for i in range(len(matrix))],
    "by_length": {n: sorted({w for w in words if len(w) == n}) for n in sorted({len(w) for w in words})},
    "first_index": {w: i for i, w in reversed(list(enumerate(words)))}["the"],
    "primes": primes,
    "triples": triples,
    "half": [h for x in range(10) if (h := x // 2) > 2],
    "running": (lambda t: [t := t + x for x in [1, 2, 3]])(0),
    "lazy": sum(x * x for x in range(1, 101)),
    "any": any((found := w).startswith("j") for w in words) and found,
    "table": [["%2d" % (r * c) for c in range(1, 4)] for r in range(1, 4)],
    "frozen": sorted(frozenset(c for c in "mississippi")),
    "zipped": [f"{i}{c}" for i, c in enumerate("abc", start=1) if i != 2],
    "nested_if": ["fizzbuzz" if n % 15 == 0 else "fizz" if n % 3 == 0 else "buzz" if n % 5 == 0 else n for n in range(1, 16)],
}
#= {"transposed": [[1, 4, 7], [2, 5, 8], [3, 6, 9]], "flat_even": [2, 4, 6, 8], "diagonal": [1, 5, 9], "by_length": {"3": ["dog", "fox", "the"], "4": ["lazy", "over"], "5": ["brown", "jumps", "quick"]}, "first_index": 0, "primes": [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47], "triples": [[3, 4, 5], [6, 8, 10], [5, 12, 13], [9, 12, 15], [8, 15, 17], [12, 16, 20]], "half": [3, 3, 4, 4], "running": [1, 3, 6], "lazy": 338350, "any": "jumps", "table": [[" 1", " 2", " 3"], [" 2", " 4", " 6"], [" 3", " 6", " 9"]], "frozen": ["i", "m", "p", "s"], "zipped": ["1a", "3c"], "nested_if": [1, 2, "fizz", 4, "buzz", "fizz", 7, 8, "fizz", "buzz", 11, "fizz", 13, 14, "fizzbuzz"]}

#: itertools-recipes
#: Recipes from itertools: chunks, windows, powersets, round robin and more.
from itertools import chain, combinations, combinations_with_replacement, count, cycle, dropwhile, filterfalse, islice, permutations, product, repeat, starmap, takewhile, tee, zip_longest, compress, groupby
from collections import deque


def chunked(iterable, n):
    it = iter(iterable)
    while chunk := list(islice(it, n)):
        yield chunk


def windows(iterable, n):
    it = iter(iterable)
    window = deque(islice(it, n), maxlen=n)
    if len(window) == n:
        yield tuple(window)
    for x in it:
        window.append(x)
        yield tuple(window)


def powerset(items):
    items = list(items)
    return chain.from_iterable(combinations(items, r) for r in range(len(items) + 1))


def roundrobin(*iterables):
    pending, nexts = len(iterables), cycle(iter(it).__next__ for it in iterables)
    while pending:
        try:
            for nxt in nexts:
                yield nxt()
        except StopIteration:
            pending -= 1
            nexts = cycle(islice(nexts, pending))


def pairwise(iterable):
    a, b = tee(iterable)
    next(b, None)
    return zip(a, b)


def unique(iterable, key=lambda x: x):
    seen = set()
    for x in iterable:
        if (k := key(x)) not in seen:
            seen.add(k)
            yield x


result = {
    "chunks": list(chunked(range(7), 3)),
    "windows": [sum(w) for w in windows(range(6), 3)],
    "powerset": ["".join(s) for s in powerset("abc")],
    "roundrobin": "".join(roundrobin("ABC", "D", "EF")),
    "pairwise": list(pairwise("wxyz")),
    "unique": list(unique("AbBaCc", key=str.lower)),
    "primes": list(islice((n for n in count(2) if all(n % d for d in range(2, n))), 8)),
    "dice": sum(1 for a, b in product(range(1, 7), repeat=2) if a + b == 7),
    "perms": len(list(permutations("abcd", 2))),
    "cwr": ["".join(c) for c in combinations_with_replacement("ab", 3)],
    "longest": list(zip_longest([1, 2, 3], "a", fillvalue="-")),
    "take_drop": [list(takewhile(lambda x: x < 3, [1, 2, 5, 1])), list(dropwhile(lambda x: x < 3, [1, 2, 5, 1]))],
    "compress": "".join(compress("ABCDEF", [1, 0, 1, 0, 1, 1])),
    "odd": list(filterfalse(lambda x: x % 2 == 0, range(6))),
    "runs": [(k, len(list(g))) for k, g in groupby("aaabbc")],
    "starmap": list(starmap(pow, zip(range(1, 4), repeat(2)))),
}
#= {"chunks": [[0, 1, 2], [3, 4, 5], [6]], "windows": [3, 6, 9, 12], "powerset": ["", "a", "b", "c", "ab", "ac", "bc", "abc"], "roundrobin": "ADEBFC", "pairwise": [["w", "x"], ["x", "y"], ["y", "z"]], "unique": ["A", "b", "C"], "primes": [2, 3, 5, 7, 11, 13, 17, 19], "dice": 6, "perms": 12, "cwr": ["aaa", "aab", "abb", "bbb"], "longest": [[1, "a"], [2, "-"], [3, "-"]], "take_drop": [[1, 2], [5, 1]], "compress": "ACEF", "odd": [1, 3, 5], "runs": [["a", 3], ["b", 2], ["c", 1]], "starmap": [1, 4, 9]}

#: event-bus
#: A publish and subscribe bus with decorators, priorities and one-time handlers.
from collections import defaultdict
from functools import partial


class Bus:
    def __init__(self):
        self._handlers = defaultdict(list)
        self.errors = []

    def on(self, event, *, priority=0, once=False):
        def register(handler):
            self._handlers[event].append((priority, once, handler))
            self._handlers[event].sort(key=lambda h: -h[0])
            return handler

        return register

    def emit(self, event, *args, **data):
        answers = []
        for entry in list(self._handlers[event]):
            _, once, handler = entry
            if once:
                self._handlers[event].remove(entry)
            try:
                answers.append(handler(*args, **data))
            except Exception as e:
                self.errors.append((event, type(e).__name__, str(e)))
        return answers


bus = Bus()


@bus.on("hit")
def armour(damage, **_):
    return f"armour takes {damage // 2}"


@bus.on("hit", priority=10, once=True)
def shield(damage, **_):
    return f"shield takes {damage}"


@bus.on("hit", priority=-5)
def broken(damage, source="?"):
    raise RuntimeError(f"no handler for {source}")


bus.on("log")(partial("{}: {}".format, "log"))
first = bus.emit("hit", 9, source="orc")
second = bus.emit("hit", 4)
result = [first, second, bus.emit("log", "done"), bus.emit("nothing"), bus.errors]
#= [["shield takes 9", "armour takes 4"], ["armour takes 2"], ["log: done"], [], [["hit", "RuntimeError", "no handler for orc"], ["hit", "RuntimeError", "no handler for ?"]]]

#: pipelines
#: Function composition with an operator, currying and a lazy pipeline.
from functools import reduce, partial, wraps


class Pipe:
    def __init__(self, function):
        self.function = function

    def __ror__(self, left):
        return self.function(left)

    def __rshift__(self, other):
        return Pipe(lambda x: other.function(self.function(x)))

    def __call__(self, *args, **kwargs):
        return Pipe(lambda left: self.function(left, *args, **kwargs))


def curry(n):
    def decorate(f):
        @wraps(f)
        def inner(*args):
            return f(*args) if len(args) >= n else partial(inner, *args)

        return inner

    return decorate


@Pipe
def where(items, predicate):
    return (x for x in items if predicate(x))


@Pipe
def select(items, function):
    return (function(x) for x in items)


@curry(3)
def volume(a, b, c):
    """Volume of a block."""
    return a * b * c


to_list = Pipe(list)
total = Pipe(sum)
clean = Pipe(str.strip) >> Pipe(str.lower) >> Pipe(lambda s: s.replace(" ", "_"))
result = [
    range(10) | where(lambda x: x % 3 == 0) | select(lambda x: x ** 2) | to_list,
    range(5) | total,
    "  Some Column Name " | clean,
    volume(2)(3)(4),
    volume(2, 3)(4),
    volume.__name__,
    reduce(lambda v, f: f(v), [str, len, lambda n: n * 10], 12345),
]
#= [[0, 9, 36, 81], 10, "some_column_name", 24, 24, "volume", 50]
