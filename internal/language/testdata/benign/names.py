#: names-like-builtins
#: Variables and parameters that shadow builtins such as input, dir, vars, type, id and format.
input = """\
N 3
E 2
S 1
"""
dir = (0, 0)
STEPS = {"N": (0, 1), "E": (1, 0), "S": (0, -1)}


def load(input, *, type="text", format=None, id=0, open=False):
    lines = input.splitlines()
    vars = {"type": type, "format": format or "plain", "id": id, "open": open}
    return lines, vars


def total(list, max=100, sum=0):
    for hash, next in enumerate(list):
        sum += next
    return min(sum, max)


for line in input.splitlines():
    dir_name, n = line.split()
    dx, dy = STEPS[dir_name]
    dir = (dir[0] + dx * int(n), dir[1] + dy * int(n))

lines, vars = load(input, id=7, open=True)
ids = [id for id in range(3)]
filter = {"state": "open", "max": 2}
len_ = len(filter)
result = [dir, lines, vars, ids, total([30, 40]), total([90, 90]), filter["state"], len_]
#= [[2, 2], ["N 3", "E 2", "S 1"], {"type": "text", "format": "plain", "id": 7, "open": true}, [0, 1, 2], 70, 100, "open", 2]

#: methods-like-builtins
#: Methods and attributes named open, eval, exec, compile, input, dir and format on own classes.
import re


class Valve:
    def __init__(self):
        self.is_open = False
        self.input = 0

    def open(self, input=1):
        self.is_open, self.input = True, input
        return self

    def compile(self):
        return f"valve:{self.input}"

    def format(self, dir="in"):
        return "%s/%s" % (dir, self.input)


class Num:
    def __init__(self, n):
        self.n = n

    def eval(self, env):
        return self.n


class Name:
    def __init__(self, id):
        self.id = id

    def eval(self, env):
        return env.vars[self.id]


class Let:
    def __init__(self, name, value, body):
        self.name, self.value, self.body = name, value, body

    def eval(self, env):
        return self.body.eval(env.child(self.name, self.value.eval(env)))


class Env:
    def __init__(self, vars=None, globals=None):
        self.vars = vars or {}
        self.globals = globals or {}

    def child(self, name, value):
        return Env({**self.vars, name: value}, self.globals)

    def exec(self, program):
        return [node.eval(self) for node in program]


class Menu:
    def __init__(self):
        self.help = "press h"
        self.exit = False
        self.dir = ["a", "b"]

    def quit(self):
        self.exit = True


pattern = re.compile(r"\d+")
menu = Menu()
menu.quit()
valve = Valve().open(input=4)
program = [Let("x", Num(5), Name("x")), Num(2)]
result = [valve.is_open, valve.compile(), valve.format(dir="out"), Env().exec(program), pattern.findall("a1b22"), menu.exit, menu.dir, menu.help]
#= [true, "valve:4", "out/4", [5, 2], ["1", "22"], true, ["a", "b"], "press h"]

#: attributes-like-internals
#: Own attributes with prefixes that also occur on frames, code objects and generators.
class Paper:
    def __init__(self, title, co_author, tb_count=0):
        self.title = title
        self.co_author = co_author
        self.co_authors = [co_author]
        self.tb_count = tb_count
        self.obj = None
        self.name = title.lower()

    def register(self, registry):
        registry[self.name] = self
        return self


class Model:
    def __init__(self, tp, fp, fn):
        self.tp, self.fp, self.fn = tp, fp, fn

    @property
    def precision(self):
        return self.tp / (self.tp + self.fp)

    @property
    def recall(self):
        return self.tp / (self.tp + self.fn)

    @property
    def f_score(self):
        p, r = self.precision, self.recall
        return round(2 * p * r / (p + r), 3)


class Node:
    def __init__(self, pos, g_score, h_score):
        self.pos = pos
        self.g_score = g_score
        self.f_score = g_score + h_score
        self.f_name = "node"
        self.cr_rate = 0.5
        self.ag_value = 47
        self.gi_index = 55

    def __lt__(self, other):
        return self.f_score < other.f_score


registry = {}
p = Paper("Walls", "Bo", tb_count=3).register(registry)
p.obj = registry["walls"]
p.co_authors += ["Cy"]
nodes = sorted([Node((0, 0), 3, 4), Node((1, 1), 2, 2)])
text = "{0.f_score} {0.f_name} {1.co_author} {1.tb_count}".format(nodes[0], p)
result = [p.obj is p, p.co_authors, p.tb_count, Model(8, 2, 4).f_score, [n.f_score for n in nodes], text, nodes[0].gi_index + nodes[0].ag_value, nodes[0].cr_rate]
#= [true, ["Bo", "Cy"], 3, 0.727, [4, 7], "4 node Bo 3", 102, 0.5]

#: scary-words-in-text
#: Strings, comments and keys that mention forbidden names without using them.
# This script never calls eval(), exec() or open("file"); it only talks about them.
import re

SOURCE = '''
import os
from subprocess import run
x = eval("1+1")
print(x.__class__.__bases__)
password = open("/etc/passwd").read()
'''

RULES = {
    "import-os": r"^\s*(?:import|from)\s+(os|sys|subprocess)\b",
    "dunder": r"\.__\w+__",
    "call": r"\b(eval|exec|open|compile|__import__)\s*\(",
}


def lint(source):
    """Report lines that use eval(), exec(), globals() or __builtins__."""
    findings = []
    for number, line in enumerate(source.splitlines(), 1):
        for rule, pattern in RULES.items():
            for m in re.finditer(pattern, line):
                findings.append((number, rule, m.group().strip()))
    return findings


HELP = {"__class__": "the type", "gi_frame": "a frame", "__globals__": "a dict", "os.system": "a shell"}
docs = ["%-12s %s" % item for item in sorted(HELP.items())]
message = "do not write {0}".format("{0.__class__}")
braces = "{{x.__class__}} {}".format(1)
result = [lint(SOURCE), docs, message, braces, "__import__" in SOURCE, len(SOURCE.split("import"))]
#= [[[2, "import-os", "import os"], [3, "import-os", "from subprocess"], [4, "call", "eval("], [5, "dunder", ".__class__"], [5, "dunder", ".__bases__"], [6, "call", "open("]], ["__class__    the type", "__globals__  a dict", "gi_frame     a frame", "os.system    a shell"], "do not write {0.__class__}", "{x.__class__} 1", false, 3]

#: main-guard
#: A script in the usual layout with constants, helpers, main and the name guard.
#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Counts things.

Usage: nothing to pass.
"""
from __future__ import annotations

import math
from collections import Counter

__all__ = ["main"]
_DEFAULT = "the cat and the hat"
__private_default = 3


def _helper(text: str) -> Counter:
    return Counter(text.split())


def main(argv: list[str] | None = None) -> dict:
    """Entry point."""
    args = argv if argv is not None else [_DEFAULT]
    limit = context.get("limit", __private_default)
    counts = _helper(" ".join(args))
    print("counted", len(counts), "words", sep=" ", end="\n")
    return {"top": counts.most_common(limit), "log": round(math.log(sum(counts.values())), 3), "doc": main.__doc__}


if __name__ == "__main__":
    result = main()
#= {"top": [["the", 2], ["cat", 1], ["and", 1]], "log": 1.609, "doc": "Entry point."}

#: underscore-names
#: Underscore names of every harmless sort: throwaways, privates, trailing, numeric and unicode.
from collections import namedtuple

_ = "discarded"
__ = "double"
_x, x_, x__y, _1, class_, from_ = 1, 2, 3, 4, 5, 6
_private_table = {"_id": 1, "__v": 0}
naïve = straße = 7
Δt, α_1 = 0.5, 2


class Widget:
    _count = 0
    __slots__ = ("_value", "__hidden", "class_")

    def __init__(self, _value, class_=None, **_kwargs):
        self._value = _value
        self.__hidden = _value * 2
        self.class_ = class_
        Widget._count += 1

    def _protected(self):
        return self.__hidden

    def __secret(self, __arg=1):
        return self.__hidden + __arg

    def reveal(self):
        return self.__secret() + self.__secret(2)

    @classmethod
    def _make(cls, text):
        return cls(int(text), class_="made", _extra=True)


Point = namedtuple("Point", "x y")
w = Widget._make("21")
for _ in range(3):
    pass
(_, second), *_rest = [(1, 2), (3, 4)], 5
result = [_x + x_ + x__y + _1 + class_ + from_, __, second, _rest, w._value, w._protected(), w.reveal(), w.class_, Widget._count, _private_table["_id"], naïve + straße, Δt * α_1, Point(1, 2)._replace(y=5)._asdict()]
#= [21, "double", [3, 4], [5], 21, 42, 87, "made", 1, 1, 14, 1.0, {"x": 1, "y": 5}]

#: function-attributes
#: Attributes on own functions, docstrings, names and per-function caches.
def fib(n):
    """Fibonacci with a cache on the function."""
    if n in fib.cache:
        return fib.cache[n]
    value = n if n < 2 else fib(n - 1) + fib(n - 2)
    fib.cache[n] = value
    fib.misses += 1
    return value


fib.cache = {}
fib.misses = 0


def next_id(prefix="id"):
    next_id.counter += 1
    return f"{prefix}-{next_id.counter:03d}"


next_id.counter = 0


def command(help, *, hidden=False):
    def decorate(f):
        f.help = help
        f.hidden = hidden
        COMMANDS[f.__name__] = f
        return f

    return decorate


COMMANDS = {}


@command("show the list")
def ls():
    return ["a", "b"]


@command("no help", hidden=True)
def debug():
    """Internal."""


square = lambda x: x * x
square.__name__ = "square"
visible = {name: f.help for name, f in COMMANDS.items() if not f.hidden}
result = [fib(60), fib.misses, len(fib.cache), [next_id(), next_id("job")], visible, debug.__doc__, hasattr(ls, "help"), hasattr(square, "help"), square.__name__, COMMANDS["ls"]()]
#= [1548008755920, 61, 61, ["id-001", "job-002"], {"ls": "show the list"}, "Internal.", true, false, "square", ["a", "b"]]
