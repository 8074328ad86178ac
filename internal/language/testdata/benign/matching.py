#: match-literals-and-guards
#: match on literals, alternatives, captures, guards and the wildcard.
#: since 3.10
import math


def http(status):
    match status:
        case 200 | 201 | 204:
            return "ok"
        case 301 | 302 as code:
            return f"moved ({code})"
        case int(code) if 400 <= code < 500:
            return f"client {code}"
        case int() if status >= 500:
            return "server"
        case None:
            return "none"
        case True | False:
            return "bool"
        case "teapot" | "tea":
            return "418"
        case -1:
            return "minus"
        case math.pi:
            return "pi"
        case 1 + 2j:
            return "complex"
        case b"raw":
            return "bytes"
        case str(text):
            return text[::-1]
        case _:
            return type(status).__name__


result = [http(x) for x in (201, 302, 404, 503, None, True, "tea", -1, math.pi, 1 + 2j, b"raw", "abc", 2.5, [1])]
#= ["ok", "moved (302)", "client 404", "server", "none", "bool", "418", "minus", "pi", "complex", "bytes", "cba", "float", "list"]

#: match-sequences
#: match on sequences with stars, nesting and alternatives: a text adventure parser.
#: since 3.10
class Game:
    DIRECTIONS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}

    def __init__(self):
        self.at, self.bag, self.log = (0, 0), [], []

    def do(self, line):
        match line.lower().split():
            case []:
                out = "say something"
            case ["quit" | "exit" | "q"]:
                out = "bye"
            case ["go", ("north" | "south" | "east" | "west") as way]:
                dx, dy = self.DIRECTIONS[way]
                self.at = (self.at[0] + dx, self.at[1] + dy)
                out = "now at %d,%d" % self.at
            case ["go", other]:
                out = f"no way {other}"
            case ["take", *things, "and", last] if things:
                self.bag += [*things, last]
                out = f"{len(things) + 1} things"
            case ["take", thing]:
                self.bag.append(thing)
                out = thing
            case ["drop", thing] if thing in self.bag:
                self.bag.remove(thing)
                out = f"dropped {thing}"
            case ["drop", _]:
                out = "you do not have that"
            case [verb, *_]:
                out = f"cannot {verb}"
        self.log.append(out)


def shape(data):
    match data:
        case [[a, b], [c, d]]:
            return a * d - b * c
        case (x, y):
            return x + y
        case [first, *_, last]:
            return [first, last]
        case [only]:
            return only


game = Game()
for line in ["", "go north", "go up", "take lamp", "take key coin and rope", "drop key", "drop moon", "dance with me", "Q"]:
    game.do(line)
result = [game.log, game.at, game.bag, shape([[1, 2], [3, 4]]), shape((5, 6)), shape(range(4)), shape(["x"]), shape("ab")]
#= [["say something", "now at 0,1", "no way up", "lamp", "3 things", "dropped key", "you do not have that", "cannot dance", "bye"], [0, 1], ["lamp", "coin", "rope"], -2, 11, [0, 3], "x", null]

#: match-mappings
#: match on mappings with rest captures: events of a web hook.
#: since 3.10
def handle(event):
    match event:
        case {"type": "message", "user": {"name": str(name)}, "text": text}:
            return f"{name}: {text}"
        case {"type": "join" | "leave" as kind, "user": user}:
            return f"{user} {kind}s"
        case {"type": "batch", "events": [*events]}:
            return [handle(e) for e in events]
        case {"type": "move", "to": [int(x), int(y)], **rest} if not rest:
            return (x, y)
        case {"type": "move", **rest}:
            return sorted(rest)
        case {"error": {"code": code, "detail": None | ""}}:
            return f"error {code}"
        case {"error": {"code": code, "detail": detail}}:
            return f"error {code}: {detail}"
        case {}:
            return "unknown"
        case _:
            return "not an event"


events = [
    {"type": "message", "user": {"name": "ann", "id": 1}, "text": "hi"},
    {"type": "join", "user": "bob"},
    {"type": "batch", "events": [{"type": "leave", "user": "bob"}, {"type": "move", "to": [1, 2]}]},
    {"type": "move", "to": [1, 2], "speed": 3},
    {"error": {"code": 7, "detail": None}},
    {"error": {"code": 8, "detail": "disk"}},
    {"x": 1},
    "text",
]
result = [handle(e) for e in events]
#= ["ann: hi", "bob joins", ["bob leaves", [1, 2]], ["speed", "to"], "error 7", "error 8: disk", "unknown", "not an event"]

#: match-classes
#: match on class patterns with keywords, __match_args__ and dataclasses: an expression simplifier.
#: since 3.10
from dataclasses import dataclass


@dataclass(frozen=True)
class Num:
    value: float


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class BinOp:
    op: str
    left: object
    right: object


class Neg:
    __match_args__ = ("operand",)

    def __init__(self, operand):
        self.operand = operand

    def __repr__(self):
        return f"-({self.operand})"


def simplify(e):
    match e:
        case BinOp(op, left, right):
            e = BinOp(op, simplify(left), simplify(right))
        case Neg(inner):
            e = Neg(simplify(inner))
    match e:
        case BinOp("+", Num(0), x) | BinOp("+", x, Num(0)):
            return x
        case BinOp("*", Num(0), _) | BinOp("*", _, Num(0)):
            return Num(0)
        case BinOp("*", Num(1), x) | BinOp("*", x, Num(1)):
            return x
        case BinOp("-", Var(name=a), Var(name=b)) if a == b:
            return Num(0)
        case BinOp(op="+", left=Num(value=a), right=Num(value=b)):
            return Num(a + b)
        case Neg(Neg(x)):
            return x
        case Neg(Num(v)):
            return Num(-v)
        case _:
            return e


def show(e):
    match e:
        case Num(value=int() | float() as v):
            return f"{v:g}"
        case Var(name):
            return name
        case BinOp(op, l, r):
            return f"({show(l)} {op} {show(r)})"
        case Neg(operand=x):
            return f"-{show(x)}"


x, y = Var("x"), Var("y")
exprs = [
    BinOp("+", BinOp("*", Num(1), x), Num(0)),
    BinOp("*", y, BinOp("-", x, x)),
    Neg(Neg(BinOp("+", Num(2), Num(3)))),
    BinOp("-", Neg(Num(4)), BinOp("*", x, Num(1))),
]
result = [[show(e), show(simplify(e))] for e in exprs]
#= [["((1 * x) + 0)", "x"], ["(y * (x - x))", "0"], ["--(2 + 3)", "5"], ["(-4 - (x * 1))", "(-4 - x)"]]

#: match-mixed
#: match over builtin types, enums and nested structures: a typed JSON printer.
#: since 3.10
from enum import Enum
from collections import namedtuple


class Color(Enum):
    RED = 1
    GREEN = 2


Point = namedtuple("Point", "x y")


def show(value):
    match value:
        case Color.RED:
            return "red!"
        case Color(name=name):
            return name.lower()
        case Point(x=0, y=0):
            return "origin"
        case Point(x, y) if x == y:
            return f"diagonal {x}"
        case Point(x=x):
            return f"point at x={x}"
        case bool(b):
            return "yes" if b else "no"
        case int(n) | float(n):
            return f"num {n}"
        case str():
            return repr(value)
        case list(items):
            return [show(i) for i in items]
        case {"kind": "pair", "items": (a, b) | [a, b]}:
            return f"<{show(a)} {show(b)}>"
        case dict(d):
            return {k: show(v) for k, v in d.items()}
        case tuple((single,)):
            return f"just {show(single)}"
        case set() | frozenset():
            return f"set of {len(value)}"
        case Exception(args=(message, *_)):
            return f"{type(value).__name__} {message}"
        case _:
            return "?"


values = [Color.RED, Color.GREEN, Point(0, 0), Point(2, 2), Point(3, 1), True, 7, "s", [1, [2.5]], {"kind": "pair", "items": [1, "b"]}, {"a": False}, (9,), {1, 2}, ValueError("bad", 1), None]
result = [show(v) for v in values]
#= ["red!", "green", "origin", "diagonal 2", "point at x=3", "yes", "num 7", "'s'", ["num 1", ["num 2.5"]], "<num 1 'b'>", {"a": "no"}, "just num 9", "set of 2", "ValueError bad", "?"]

#: match-soft-keywords
#: match, case and type used as ordinary names beside a match statement.
#: since 3.10
import re

match = re.match(r"(\w+)=(\d+)", "width=40")
case = {"match": 1, "case": 2}
type_ = "soft"


def type(match, case=None):
    return f"{match}/{case}"


def pick(match, *, case):
    match match:
        case {"case": case}:
            return case
        case [case]:
            return case
        case str() as case:
            return case.upper()
    return case


_ = [case[k] for k in ("match", "case")]
result = [match.groups(), match[1], case["case"], type("a", case="b"), pick({"case": 3}, case=0), pick([4], case=0), pick("x", case=0), pick(9, case="default"), _]
#= [["width", "40"], "width", 2, "a/b", 3, 4, "X", "default", [1, 2]]
