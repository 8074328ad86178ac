#: import-forms
#: Allowed modules imported in every ordinary way, also inside functions and branches.
from __future__ import annotations

import collections.abc
import datetime as dt
import json, math, re
import statistics as stats
from collections import abc, Counter as Tally, defaultdict
from datetime import (
    date,
    timedelta as delta,
)
from math import pi, sqrt as root
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

try:
    from itertools import pairwise
except ImportError:
    def pairwise(items):
        items = list(items)
        return zip(items, items[1:])


def lazy(text):
    import base64
    from hashlib import sha256 as digest

    return base64.b16encode(digest(text.encode()).digest()[:2]).decode()


class Tool:
    import string as letters

    def first(self):
        return self.letters.ascii_uppercase[:3]


def half(f: Fraction) -> Fraction:
    return f / 2


result = [
    isinstance([], collections.abc.Sequence),
    isinstance({}, abc.Mapping),
    (dt.date(2024, 1, 1) + delta(days=59)).isoformat(),
    date(2024, 1, 1) == dt.date(2024, 1, 1),
    Tally("aab")["a"],
    list(pairwise("abc")),
    lazy("x"),
    Tool().first(),
    round(pi * root(4), 4),
    half(3),
    stats.mean([1, 2, 3]),
    json.dumps(sorted(defaultdict(int, a=1))),
    re.I == re.IGNORECASE,
    math.tau > 6,
]
#= [true, true, "2024-02-29", true, 2, [["a", "b"], ["b", "c"]], "2D71", "ABC", 6.2832, 1.5, 2, "[\"a\"]", true, true]

#: module-values
#: Functions, classes and constants of modules passed around as values.
import datetime
import decimal
import functools
import itertools
import json
import math
import operator
import re
import string

CONVERTERS = {"int": int, "float": float, "dec": decimal.Decimal, "json": json.loads, "date": datetime.date.fromisoformat}
PIPELINE = [str.strip, string.capwords, functools.partial(re.sub, r"\s+", "_"), len]


def apply(value, functions):
    return functools.reduce(lambda v, f: f(v), functions, value)


def table(f, xs):
    return {f.__name__: [round(f(x), 3) for x in xs]}


def numbers(text, pattern=re.compile(r"-?\d+")):
    return list(map(int, pattern.findall(text)))


pattern = re.compile(r"(?P<key>\w+)=(?P<value>\w+)", flags=re.IGNORECASE | re.MULTILINE)
match = pattern.search("a=1 b=2")
result = [
    apply("  hello   big world ", PIPELINE),
    {**table(math.sqrt, [1, 2, 4]), **table(math.log2, [8, 1024])},
    [str(CONVERTERS[k](v)) for k, v in (("int", "7"), ("dec", "1.50"), ("json", "[1]"), ("date", "2024-02-03"))],
    numbers("1 - 2, -3"),
    isinstance(pattern, re.Pattern) and isinstance(match, re.Match),
    [match.lastgroup, match.span("value"), match.re.groups, match.expand(r"\g<value>:\1")],
    list(itertools.starmap(operator.pow, [(2, 5), (3, 2)])),
    sorted(map(math.floor, [2.7, -2.7])),
    [f.__name__ for f in (math.sqrt, json.dumps, operator.add, len)],
    max(map(datetime.date.fromisoformat, ["2023-01-01", "2024-01-01"])).year,
    callable(json.dumps) and isinstance(decimal.Decimal(1), decimal.Decimal),
    [round(x, 2) for x in map(operator.truediv, [1, 2], [3, 3])],
]
#= [15, {"sqrt": [1.0, 1.414, 2.0], "log2": [3.0, 10.0]}, ["7", "1.50", "[1]", "2024-02-03"], [1, 2, -3], true, ["value", [2, 3], 2, "1:a"], [32, 9], [-3, 2], ["sqrt", "dumps", "add", "len"], 2024, true, [0.33, 0.67]]

#: pretty-printing
#: pprint in its forms with nested data and own objects.
import pprint
from collections import OrderedDict, deque
from dataclasses import dataclass


@dataclass
class Part:
    name: str
    size: int


class Plain:
    def __repr__(self):
        return "<plain>"


data = {"zeta": list(range(12)), "alpha": {"nested": {"deep": ["x" * 20, "y" * 20]}}, "tuple": (1,), "set": {3, 1, 2}}
printer = pprint.PrettyPrinter(indent=2, width=40, depth=2)
pprint.pprint({"shown": "on stdout"})
result = {
    "wide": pprint.pformat(data, width=60).splitlines(),
    "deep": printer.pformat(data).splitlines(),
    "unsorted": pprint.pformat({"b": 1, "a": 2}, sort_dicts=False),
    "compact": pprint.pformat(list(range(30)), width=40, compact=True).splitlines(),
    "objects": pprint.pformat([Plain(), Part("bolt", 3)]),
    "readable": [pprint.isreadable(data), pprint.isreadable(Plain())],
    "repr": pprint.saferepr({"k": [1]}),
}
#= {"wide": ["{'alpha': {'nested': {'deep': ['xxxxxxxxxxxxxxxxxxxx',", "                               'yyyyyyyyyyyyyyyyyyyy']}},", " 'set': {1, 2, 3},", " 'tuple': (1,),", " 'zeta': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}"], "deep": ["{ 'alpha': {'nested': {...}},", "  'set': {1, 2, 3},", "  'tuple': (1,),", "  'zeta': [ 0,", "            1,", "            2,", "            3,", "            4,", "            5,", "            6,", "            7,", "            8,", "            9,", "            10,", "            11]}"], "unsorted": "{'b': 1, 'a': 2}", "compact": ["[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,", " 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,", " 22, 23, 24, 25, 26, 27, 28, 29]"], "objects": "[<plain>, Part(name='bolt', size=3)]", "readable": [true, false], "repr": "{'k': [1]}"}

#: seldom-used-corners
#: Less common functions of the allowed modules in one report.
import base64
import calendar
import cmath
import copy
import difflib
import enum
import fractions
import hashlib
import itertools
import json
import random
import string
import struct
import textwrap
import unicodedata
import uuid

words = ["apple", "ape", "peach", "puppy"]
report = {}
report["close"] = difflib.get_close_matches("appel", words)
report["html_free"] = [line for line in difflib.context_diff(["a"], ["b"], lineterm="")][:2]
report["b85"] = base64.b85encode(b"data").decode()
report["phase"] = round(cmath.phase(-1 + 0j), 4)
report["shallow"] = copy.copy([[1], 2]) == [[1], 2]
report["as_ratio"] = (0.375).as_integer_ratio()
report["limit"] = str(fractions.Fraction(3.3).limit_denominator(10))
report["algos"] = {"sha256", "md5"} <= hashlib.algorithms_guaranteed
report["pbkdf2"] = hashlib.pbkdf2_hmac("sha256", b"pw", b"salt", 10).hex()[:8]
report["product"] = sum(1 for _ in itertools.product("ab", repeat=3))
report["encoded"] = list(json.JSONEncoder(separators=(",", ":")).iterencode([1, {"a": None}]))[0]
report["choices"] = len(random.Random(1).choices("ab", k=4))
report["punctuation"] = len(string.punctuation)
report["native"] = struct.calcsize("<i")
report["dedent"] = textwrap.dedent("  a\n   b")
report["mirror"] = unicodedata.mirrored("(")
report["bidi"] = unicodedata.bidirectional("א")
report["uuid"] = uuid.UUID(int=1).hex[-3:]
report["header"] = calendar.TextCalendar().formatweekheader(2)
report["auto"] = enum.Enum("E", [("A", 1), ("B", 2)])(2).name
report["triangular"] = 0 <= random.Random(2).triangular(0, 1) <= 1
report["hexfloat"] = [(0.5).hex(), float.fromhex("0x1p-2")]
result = report
#= {"close": ["apple", "ape"], "html_free": ["*** ", "--- "], "b85": "WMOn+", "phase": 3.1416, "shallow": true, "as_ratio": [3, 8], "limit": "33/10", "algos": true, "pbkdf2": "72aecd14", "product": 8, "encoded": "[1", "choices": 4, "punctuation": 32, "native": 4, "dedent": "a\n b", "mirror": 1, "bidi": "R", "uuid": "001", "header": "Mo Tu We Th Fr Sa Su", "auto": "B", "triangular": true, "hexfloat": ["0x1.0000000000000p-1", 0.25]}

#: new-module-functions
#: Newer functions of the allowed modules where the version has them.
#: since 3.12
import itertools
import math
import random
import datetime as dt
import statistics
import calendar
import uuid

batches = list(itertools.batched("abcdefg", 3))
pairs = list(itertools.pairwise([1, 4, 9]))
result = [
    ["".join(b) for b in batches],
    [b - a for a, b in pairs],
    math.sumprod([1, 2, 3], [4, 5, 6]),
    round(math.cbrt(27), 9),
    math.exp2(10),
    (0b10110).bit_count(),
    dt.datetime(2024, 1, 1, tzinfo=dt.UTC).isoformat(),
    dt.datetime.fromisoformat("20240102T030405Z").hour,
    random.Random(3).binomialvariate(10, 1.0),
    round(statistics.correlation([1, 2, 3], [1, 4, 9], method="ranked"), 3),
    calendar.Month.MARCH.name,
    calendar.Day.SUNDAY.value,
    math.nextafter(1.0, 2.0) > 1.0,
    "a-b".removeprefix("a-").removesuffix("b") == "",
    {"a": 1} | {"b": 2},
    math.lcm(4, 6),
]
#= [["abc", "def", "g"], [3, 5], 32, 3.0, 1024.0, 3, "2024-01-01T00:00:00+00:00", 3, 10, 1.0, "MARCH", 6, true, true, {"a": 1, "b": 2}, 12]
