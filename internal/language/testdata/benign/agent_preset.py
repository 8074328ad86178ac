#: agent-heap-and-bisect
#: Dijkstra with heapq, and grades with bisect.
#: preset agent
import heapq
from bisect import bisect, insort


def shortest(graph, start):
    distance, queue = {start: 0}, [(0, start)]
    while queue:
        d, node = heapq.heappop(queue)
        if d > distance[node]:
            continue
        for other, weight in graph[node].items():
            if d + weight < distance.get(other, float("inf")):
                distance[other] = d + weight
                heapq.heappush(queue, (d + weight, other))
    return distance


graph = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}
scores = []
for score in (70, 33, 99, 77):
    insort(scores, score)
result = [shortest(graph, "a"), ["FDCBA"[bisect([60, 70, 80, 90], s)] for s in scores], heapq.nlargest(2, scores), list(heapq.merge([1, 4], [2, 3]))]
#= [{"a": 0, "b": 4, "c": 3, "d": 6}, ["F", "C", "C", "A"], [99, 77], [1, 2, 3, 4]]

#: agent-abstract-classes
#: abc in both spellings, with abstract properties and class names in messages.
#: preset agent
from abc import ABC, ABCMeta, abstractmethod


class Shape(ABC):
    registry = {}

    def __init_subclass__(cls, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Shape.registry[name or cls.__name__.lower()] = cls

    @abstractmethod
    def area(self):
        ...

    @property
    @abstractmethod
    def sides(self):
        ...

    def __repr__(self):
        return f"{self.__class__.__name__}({self.area()})"


class Square(Shape, name="sq"):
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a ** 2

    @property
    def sides(self):
        return 4


class Store(metaclass=ABCMeta):
    @abstractmethod
    def get(self, key): ...


errors = []
for kind in (Shape, Store):
    try:
        kind()
    except TypeError as e:
        errors.append(type(e).__name__)
result = [repr(Square(3)), sorted(Shape.registry), Square(2).sides, errors, isinstance(Square(1), Shape)]
#= ["Square(9)", ["sq"], 4, ["TypeError", "TypeError"], true]

#: agent-class-keyword-name
#: A class keyword that is called as a parameter of the builder might be.
class Plugin:
    def __init_subclass__(cls, name, bases=(), body=None, **more):
        cls.label = [name, list(bases), body, sorted(more)]


class Json(Plugin, name="js", bases=[1], body=2, space=3, keywords=4):
    pass


result = Json.label
#= ["js", [1], 2, ["keywords", "space"]]

#: agent-context-managers
#: contextmanager, suppress, ExitStack, closing and a class with __enter__.
#: preset agent
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress

log = []


@contextmanager
def tag(name):
    log.append(f"<{name}>")
    try:
        yield name.upper()
    except KeyError:
        log.append("caught")
    finally:
        log.append(f"</{name}>")


class Resource:
    def close(self):
        log.append("closed")


with tag("a") as a, nullcontext(5) as five:
    log.append(a + str(five))
with tag("b"):
    raise KeyError("x")
with suppress(ZeroDivisionError):
    1 / 0
with closing(Resource()):
    pass
with ExitStack() as stack:
    names = [stack.enter_context(tag(n)) for n in "xy"]
    stack.callback(log.append, "callback")


@tag("deco")
def work():
    log.append("work")


work()
result = [log, names]
#= [["<a>", "A5", "</a>", "<b>", "caught", "</b>", "closed", "<x>", "<y>", "callback", "</y>", "</x>", "<deco>", "work", "</deco>"], ["X", "Y"]]

#: agent-attributes-by-name
#: getattr, setattr, hasattr and delattr with names from data.
#: preset agent
class Robot:
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)

    def move(self, n):
        return f"moved {n}"

    def _secret(self):
        return "own private"


robot = Robot(speed=3, name="R2")
commands = [("move", 2), ("jump", 1)]
answers = [getattr(robot, verb)(n) if hasattr(robot, verb) else f"cannot {verb}" for verb, n in commands]
delattr(robot, "speed")
result = [answers, getattr(robot, "speed", None), getattr(robot, "_secret")(), getattr(Robot, "__name__"), getattr("a-{}", "format")(1), getattr([3, 1], "sort")() is None]
#= [["moved 2", "cannot jump"], null, "own private", "Robot", "a-1", true]

#: agent-class-names
#: The class of an object, its name, and a new object of the same class.
#: preset agent
class Animal:
    def __eq__(self, other):
        return self.__class__ is other.__class__

    def clone(self):
        return self.__class__()


class Dog(Animal):
    pass


try:
    int("x")
except ValueError as e:
    kind = e.__class__.__name__
result = [Dog().__class__.__name__, type(3).__name__, kind, Dog() == Dog(), Dog() == Animal(), type(Dog().clone()) is Dog]
#= ["Dog", "int", "ValueError", true, false, true]

#: agent-calculator-by-eval
#: eval of arithmetic that was put together from parts.
#: preset agent
def calculate(operators, operands):
    text = str(operands[0])
    for operator, operand in zip(operators, operands[1:]):
        text += operator + str(operand)
    return eval(text)


x = 5
result = [calculate(["+", "*", "-"], [2, 3, 4, 5]), eval("x * 2"), eval("[n ** 2 for n in range(4)]"), eval("a + b", {"a": 1}, {"b": 2}), eval("'%s' % x")]
#= [9, 10, [0, 1, 4, 9], 3, "5"]

#: agent-timing
#: Clocks of time, and a decorator that measures.
#: preset agent
import time
from functools import wraps


def timed(function):
    @wraps(function)
    def inner(*args, **kwargs):
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            inner.spent = time.perf_counter() - start

    return inner


@timed
def work(n):
    time.sleep(0.001)
    return sum(range(n))


value = work(10)
result = [value, work.spent > 0, time.time() > 1e9, time.strftime("%Y", time.gmtime(0)), time.monotonic() <= time.monotonic(), work.__name__]
#= [45, true, true, "1970", true, "work"]

#: agent-sys
#: The few names of sys that programs for contests use.
#: preset agent
import sys

sys.setrecursionlimit(10 ** 6)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


sys.stdout.write("out\n")
print("err", file=sys.stderr)
lines = sys.stdin.read().split()
try:
    sys.exit(3)
except SystemExit as e:
    code = e.code
result = [depth(3000), lines, code, sys.maxsize > 2 ** 30, sys.version_info >= (3, 9), sys.version_info.major]
#= [3000, [], 3, true, true, 3]

#: agent-main-guard
#: A program as a model writes it: a main function, a guard, input that may be missing.
#: preset agent
import sys
from typing import List, Optional


def read_numbers() -> List[int]:
    try:
        return [int(word) for word in input().split()]
    except EOFError:
        return [3, 1, 2]


def solve(numbers: List[int], key: Optional[str] = None) -> dict:
    return {"sorted": sorted(numbers), "max": max(numbers), "key": key}


def main() -> None:
    global result
    result = solve(read_numbers())
    print(result)


if __name__ == "__main__":
    main()
#= {"sorted": [1, 2, 3], "max": 3, "key": null}

#: agent-tree-printing
#: Data classes, pprint, json with a default, and a union of types.
from __future__ import annotations

import json
import pprint
from dataclasses import asdict, dataclass, field, is_dataclass


@dataclass
class Node:
    name: str
    children: list[Node] = field(default_factory=list)
    weight: float = 1.0


def default(value):
    if is_dataclass(value):
        return asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(type(value).__name__)


tree = Node("root", [Node("left", weight=0.5), Node("right")])
text = json.dumps({"tree": tree, "tags": {"b", "a"}}, default=default, sort_keys=True)
result = [json.loads(text)["tags"], json.loads(text)["tree"]["children"][0]["weight"], pprint.pformat(asdict(tree), width=40).splitlines()[0], len(pprint.pformat(tree, width=20).splitlines())]
#= [["a", "b"], 0.5, "{'children': [{'children': [],", 8]
