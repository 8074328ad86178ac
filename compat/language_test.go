package compat_test

import (
	"github.com/cordon-sandbox/cordon/run"
)

var _ = table("language",
	script{name: "runs as __main__", result: `["__main__", true, ["<script>"]]`, source: `
import sys
if __name__ == "__main__":
    import __main__
    result = [__name__, __main__.__dict__ is globals(), sys.argv]
`},
	script{name: "pickle of classes in the script", result: `[[1, 2], 6]`, source: `
import pickle
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
def triple(n): return 3 * n
p = pickle.loads(pickle.dumps(Point(1, 2)))
result = [[p.x, p.y], pickle.loads(pickle.dumps(triple))(2)]
`},
	script{name: "copy", result: `[[[1]], [[1, 2]]]`, source: `
import copy
a = [[1]]; b = copy.deepcopy(a); c = copy.copy(a); c[0].append(2)
result = [b, a]
`},
	// dataclasses look up their module in sys.modules by name.
	script{name: "dataclass with annotations", result: `[{"x": 1, "y": "a", "z": []}, true, "Point(x=1, y='a', z=[])"]`, source: `
from __future__ import annotations
from dataclasses import asdict, dataclass, field
from typing import ClassVar, get_type_hints
@dataclass(order=True)
class Point:
    x: int
    y: str = "a"
    z: list[int] = field(default_factory=list)
    count: ClassVar[int] = 0
result = [asdict(Point(1)), Point(1) < Point(2), repr(Point(1))]
assert get_type_hints(Point)["x"] is int
`},
	script{name: "enum, namedtuple, typing", result: `["RED", 3, 1, ["x", "y"], true]`, source: `
import enum, typing
from collections import namedtuple
class Color(enum.Enum): RED = enum.auto()
class Flag(enum.IntFlag): A = 1; B = 2
class P(typing.NamedTuple):
    x: int
    y: int = 0
class TD(typing.TypedDict): a: int
T = typing.TypeVar("T")
class Box(typing.Generic[T]): pass
result = [Color.RED.name, int(Flag.A | Flag.B), namedtuple("N", "a b")(1, 2).a, list(P._fields), Box[int].__origin__ is Box]
`},
	script{name: "abc, contextlib, functools, itertools", result: `["TypeError", ["in", "out"], 55, [3, 1], [[1, 2], [3]], "suppressed"]`, source: `
import abc, contextlib, functools, itertools
class Base(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
try: Base()
except TypeError as e: first = type(e).__name__
log = []
@contextlib.contextmanager
def noted():
    log.append("in")
    try: yield
    finally: log.append("out")
with noted(), contextlib.ExitStack() as stack: pass
@functools.lru_cache(None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
with contextlib.suppress(ZeroDivisionError): 1 / 0
result = [first, log, fib(10), [functools.reduce(int.__add__, [1, 2]), functools.partial(max, 1)(0)],
          [list(g) for _, g in itertools.groupby([1, 2, 3], lambda n: n > 2)], "suppressed"]
`},
	script{name: "generators, closures, metaclasses, descriptors, slots", result: `[[1, 2, 3], 2, "Made", 9, "AttributeError"]`, source: `
def gen():
    yield 1
    yield from (2, 3)
def counter():
    n = 0
    def up():
        nonlocal n
        n += 1
        return n
    return up
class Meta(type):
    def __new__(m, name, bases, ns): return super().__new__(m, "Made", bases, ns)
class X(metaclass=Meta): pass
class Square:
    def __get__(self, o, t=None): return o.n ** 2
class Y:
    __slots__ = ("n",)
    squared = Square()
up = counter(); up()
y = Y(); y.n = 3
try: y.other = 1
except AttributeError as e: last = type(e).__name__
result = [list(gen()), up(), X.__name__, y.squared, last]
`},
	script{name: "match", since: 10, result: `["point 1", "other"]`, source: `
def say(v):
    match v:
        case {"x": x}: return f"point {x}"
        case _: return "other"
result = [say({"x": 1}), say(3)]
`},
	script{name: "exception groups", since: 11, result: `["ValueError", "TypeError"]`, source: `
seen = []
try: raise ExceptionGroup("both", [ValueError(), TypeError()])
except* ValueError as g: seen.append(type(g.exceptions[0]).__name__)
except* TypeError as g: seen.append(type(g.exceptions[0]).__name__)
result = seen
`},
	script{name: "type parameters", since: 12, result: `["T", 3]`, source: `
def first[T](x: list[T]) -> T: return x[0]
type Pair = tuple[int, int]
result = [first.__type_params__[0].__name__, first([3])]
`},
	script{name: "template strings", since: 14, result: `["hi ", "name"]`, source: `
name = "x"
t = t"hi {name}"
result = [t.strings[0], t.interpolations[0].expression]
`},
	script{name: "compile, exec, eval, ast", result: `[3, 7, "BinOp", "a + b"]`, source: `
import ast
space = {}
exec(compile("x = 1 + 2", "<made>", "exec"), space)
tree = ast.parse("a+b", mode="eval")
result = [space["x"], eval("3 + n", {"n": 4}), type(tree.body).__name__, ast.unparse(tree)]
`},
	// inspect and traceback find the lines of the script, as they do in a file.
	script{name: "inspect", result: `["(a, b=1, *, c)", true, "def f(a, b=1, *, c): pass\n"]`, source: `
import inspect
def f(a, b=1, *, c): pass
result = [str(inspect.signature(f)), inspect.isfunction(f), inspect.getsource(f)]
`},
	script{name: "traceback as text", result: `["ZeroDivisionError: division by zero", true]`, source: `
import traceback
def divide(): return 1 / 0
try: divide()
except ZeroDivisionError:
    lines = traceback.format_exc().strip().splitlines()
result = [lines[-1], any("def divide(): return 1 / 0" in l for l in lines)]
`},
	script{name: "uncaught traceback shows the script's lines", outcome: run.Raised, exception: "ValueError",
		error: []string{"ValueError: bad 7 (line 3)"}, stderr: []string{
			"Traceback (most recent call last):", `File "<script>", line 4, in <module>`, "outer(7)",
			`File "<script>", line 3, in outer`, `raise ValueError(f"bad {n}")`, "ValueError: bad 7",
		}, source: `
def outer(n):
    raise ValueError(f"bad {n}")
outer(7)
`},
	script{name: "chained exceptions", outcome: run.Raised, exception: "RuntimeError", stderr: []string{
		"KeyError: 'k'", "direct cause", "RuntimeError: wrapped",
	}, source: `
try: {}["k"]
except KeyError as e: raise RuntimeError("wrapped") from e
`},
	script{name: "syntax error", outcome: run.Malformed, exception: "SyntaxError", error: []string{"SyntaxError", "line 2"}, source: `
x = = 1
`},
	script{name: "recursion", outcome: run.Raised, exception: "RecursionError",
		error: []string{"maximum recursion depth exceeded"}, source: `
def f(): return f()
f()
`},
	script{name: "recursion is caught", result: `"caught"`, source: `
def f(n): return [f(n + 1)]
try: f(0)
except RecursionError: result = "caught"
`},
	script{name: "assertion", outcome: run.Raised, exception: "AssertionError", error: []string{"must hold"}, source: `
assert 1 > 2, "must hold"
`},
	script{name: "names of the bootstrap are not visible", result: `[]`, source: `
result = [n for n in ("worker", "syscaller", "CHANNEL") if n in globals()]
`},
	script{name: "gc and weakref", result: `[true, true]`, source: `
import gc, weakref
class Node: pass
n = Node(); n.me = n; r = weakref.ref(n)
del n; gc.collect()
result = [r() is None, gc.isenabled()]
`},
)

var _ = table("tools",
	script{name: "logging", stderr: []string{"WARNING:root:careful", "ERROR:app:bad"}, source: `
import logging
logging.warning("careful"); logging.info("unseen")
logging.getLogger("app").error("bad")
`},
	script{name: "logging to a file", result: `"INFO 1\n"`, source: `
import logging
logging.basicConfig(filename="log", level=logging.INFO, format="%(levelname)s %(message)s")
logging.info(1); logging.shutdown()
result = open("log").read()
`},
	script{name: "warnings go to stderr", stderr: []string{"<script>:3: UserWarning: old", `warnings.warn("old")`}, source: `
import warnings
warnings.warn("old")
`},
	script{name: "warnings are caught", result: `["DeprecationWarning"]`, source: `
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    warnings.warn("x", DeprecationWarning)
result = [w.category.__name__ for w in seen]
`},
	script{name: "unittest", result: `[1, 0, 1]`, source: `
import io, unittest
class Test(unittest.TestCase):
    def test_ok(self): self.assertEqual(1, 1)
    def test_bad(self): self.assertTrue(False)
    @unittest.skip("why")
    def test_skip(self): pass
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Test)
r = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
result = [len(r.failures), len(r.errors), len(r.skipped)]
`},
	script{name: "unittest.main", outcome: run.Succeeded, stderr: []string{"test_ok (__main__.Test", "ok", "Ran 1 test", "OK"}, source: `
import unittest
class Test(unittest.TestCase):
    def test_ok(self): self.assertEqual(1, 1)
unittest.main(verbosity=2)
`},
	script{name: "unittest.mock", result: `[5, true]`, source: `
from unittest import mock
import os
with mock.patch("os.getcwd", return_value=5) as m: got = os.getcwd()
result = [got, m.called]
`},
	// doctest imports readline, which may warn that there is no terminal.
	script{name: "doctest", result: `[1, 0]`, stderr: []string{""}, source: `
import doctest
def double(n):
    """
    >>> double(2)
    4
    """
    return 2 * n
r = doctest.testmod()
result = [r.attempted, r.failed]
`},
	script{name: "argparse", result: `[3, true]`, source: `
import argparse
p = argparse.ArgumentParser()
p.add_argument("n", type=int); p.add_argument("-v", action="store_true")
a = p.parse_args(["3", "-v"])
result = [a.n, a.v]
`},
	script{name: "argparse error", outcome: run.Exited, exit: 2, stderr: []string{"usage:", "invalid int value"}, source: `
import argparse
p = argparse.ArgumentParser()
p.add_argument("n", type=int)
p.parse_args(["x"])
`},
	script{name: "pprint, reprlib, tokenize, dis, symtable", result: `["{'a': 1}", true, "x", true]`, source: `
import dis, io, pprint, reprlib, symtable, tokenize
tokens = list(tokenize.generate_tokens(io.StringIO("x = 1").readline))
result = [pprint.pformat({"a": 1}), "..." in reprlib.repr(list(range(100))), tokens[0].string, len(list(dis.get_instructions("x = 1"))) > 2]
symtable.symtable("x = 1", "f", "exec")
`},
	script{name: "ctypes", result: `[5, 3, [1, 2], 7]`, source: `
import ctypes
libc = ctypes.CDLL(None)
libc.strlen.restype = ctypes.c_size_t
class P(ctypes.Structure): _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]
p = P(1, 2)
callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: n + 4)
result = [libc.strlen(b"hello"), ctypes.CDLL("libc.so.6").abs(-3), [p.x, p.y], callback(3)]
`},
	script{name: "cProfile and tracemalloc", result: `[true, true]`, source: `
import cProfile, io, pstats, tracemalloc
tracemalloc.start(); x = [bytes(100)] * 10
with cProfile.Profile() as profile: sum(range(100))
out = io.StringIO(); pstats.Stats(profile, stream=out).print_stats()
result = ["function calls" in out.getvalue(), tracemalloc.get_traced_memory()[1] > 0]
`},
	script{name: "importlib", result: `["json", true, true]`, source: `
import importlib, importlib.metadata, importlib.util
result = [importlib.import_module("json").__name__, importlib.util.find_spec("no_such_module") is None,
          isinstance(list(importlib.metadata.distributions()), list)]
`},
	script{name: "no such module", outcome: run.Raised, exception: "ModuleNotFoundError",
		error: []string{"No module named 'no_such_module'"}, source: `
import no_such_module
`},
	script{name: "pydoc and help", result: `true`, source: `
import pydoc
result = "absolute value" in pydoc.render_doc(abs)
`},
)
