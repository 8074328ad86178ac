#: syntax-control-flow
#: Loops with else, nested breaks, chained comparisons, conditional expressions and del.
def first_factor(n):
    d = 2
    while d * d <= n:
        if n % d == 0:
            break
        d += 1
    else:
        return None
    return d


def search(grid, wanted):
    for r, row in enumerate(grid):
        for c, cell in enumerate(row):
            if cell == wanted:
                break
        else:
            continue
        return r, c
    return None


def classify(n):
    return "negative" if n < 0 else "zero" if not n else "small" if 0 < n <= 9 else "big"


def fizz(limit):
    n = 0
    while True:
        n += 1
        if n > limit:
            return
        if n % 3:
            continue
        yield n


values = [5, 3, 8]
a, b, c = values
a, b = b, a
x = y = []
x.append(1)
z = values[:]
del values[0], z
i = 0
while i < 3: i += 1
if i == 3 and not None: pass
matrix = [[0] * 3 for _ in range(2)]
matrix[1][2] = 7
total = 0
for _ in range(3): total += 2; total *= 2
result = [[first_factor(n) for n in (91, 97, 2)], search(["ab", "cd"], "d"), search(["ab"], "x"), [classify(n) for n in (-1, 0, 5, 50)], list(fizz(10)), [a, b, c], y, values, i, matrix, total, 1 < 2 < 3 != 4, not [] and 0 or "last"]
#= [[7, null, null], [1, 1], null, ["negative", "zero", "small", "big"], [3, 6, 9], [3, 5, 8], [1], [3, 8], 3, [[0, 0, 0], [0, 0, 7]], 28, true, "last"]

#: syntax-literals
#: Literals of every kind: numbers, strings, bytes, containers and escapes.
big = 1_000_000
mask = 0b1111_0000 | 0o17 ^ 0xF
tiny = 1e-3 + .5 + 2.
imag = 3j ** 2
text = 'single' "double" '''triple
line''' """quotes "inside" it"""
raw = r"C:\new\table" + R'\d'
escapes = "tab\tnew\\line \x41 \u00e9 \N{GREEK SMALL LETTER OMEGA} \101"
data = b"bytes \x00\xff" rb"\n"
empty = ((), [], {}, set(), "", b"", 0, 0.0, None, False)
nested = {"a": [1, (2, 3), {"b": {4, 5}}], ("k", 1): frozenset([6]), None: ..., True: 'yes', 2.5: "float"}
long = (
    "implicit "
    "concatenation"
    f" with {big:,}"
)
one = (1,)
continued = 1 + \
    2 + \
    3
star = [*one, *range(2), *"ab"]
result = [big, mask, round(tiny, 3), imag.real, text, raw, escapes, list(data[-4:]), [bool(e) for e in empty], sorted(nested["a"][2]["b"]), nested[None] is Ellipsis, nested["k", 1] == {6}, nested[1], long, one, continued, star, len('''

''')]
#= [1000000, 240, 2.501, -9.0, "singledoubletriple\nlinequotes \"inside\" it", "C:\\new\\table\\d", "tab\tnew\\line A \u00e9 \u03c9 A", [0, 255, 92, 110], [false, false, false, false, false, false, false, false, false, false], [4, 5], true, true, "yes", "implicit concatenation with 1,000,000", [1], 6, [1, 0, 1, "a", "b"], 2]

#: syntax-tabs-and-comments
#: Tab indentation, comments in odd places, odd spacing and unusual line breaks.
def total ( items ,
	start = 0 ,   # a default
	) :
	# comment at block level
	out = start
	for item in items :	# trailing comment
		if item is None: continue
		out += item ; last = item
# comment at column zero inside a function
	return ( out ,
		last )

class Empty : pass

class Box :

	size = 3 ; colour = "red"	# two on a line

	def grow ( self , by = 1 ) -> int :
		self . size += by
		return self \
			. size

values = [
	1 ,
	# a comment in a list
	2 , 3 ,
]
table = { "a" : 1 ,
	"b" : [ x for x in values
		if x > 1 ] , }
if values : result = [ total ( [ 1 , None , 2 ] ) , Box ( ) . grow ( by = 4 ) , table [ "b" ] [ : : -1 ] , isinstance ( Empty ( ) , Empty ) ]
else : result = None
#= [[3, 2], 7, [3, 2], true]

#: syntax-scopes
#: Scopes: global, nonlocal, class bodies, lambdas and comprehension variables.
counter = 0
names = ["outer"]


def bump(n=1):
    global counter, created
    counter += n
    created = f"by bump {counter}"
    return counter


def outer():
    value = "outer"
    names = ["enclosed"]

    def middle():
        nonlocal value

        def inner():
            nonlocal value
            value += ">inner"
            return names[0]

        value += ">middle"
        return inner()

    found = middle()
    return value, found


class Config:
    base = 10
    double = base * 2
    table = [n * 2 for n in range(3)]
    lookup = {k: v for k, v in zip("ab", (1, 2))}
    if double > 15:
        size = "large"
    else:
        size = "small"

    def method(self, base=base):
        return base + self.base

    compute = lambda self, x: self.base * x

    class Inner:
        depth = 2

        def label(self):
            return f"{type(self).__qualname__}:{self.depth}"


n = "kept"
squares = [n * n for n in range(4)]
functions = [(lambda k: lambda x: x + k)(k) for k in (1, 10)]
bump(), bump(5)
config = Config()
result = [counter, created, outer(), names, config.method(), config.compute(3), Config.table, Config.size, Config.Inner().label(), n, squares, [f(1) for f in functions], (lambda *a, k=2, **kw: (sum(a) * k, sorted(kw)))(1, 2, k=3, z=0)]
#= [6, "by bump 6", ["outer>middle>inner", "enclosed"], ["outer"], 20, 30, [0, 2, 4], "large", "Config.Inner:2", "kept", [0, 1, 4, 9], [2, 11], [9, ["z"]]]

#: syntax-annotations
#: Annotations everywhere: variables, attributes, returns, strings and complex forms.
from typing import Callable, Dict, List, Optional, Tuple, Union

limit: int = 10
later: "List[Dict[str, Union[int, str]]]"
point: Tuple[int, ...] = 1, 2, 3
table: dict[str, list[tuple[int, str]]] = {"a": [(1, "x")]}


class Account:
    owner: str
    balance: float = 0.0
    history: List["Account"]

    def __init__(self, owner: str, *, parent: Optional["Account"] = None) -> None:
        self.owner: str = owner
        self.parent: Optional[Account] = parent
        self.history = []

    def chain(self: "Account") -> List[str]:
        return [self.owner] + (self.parent.chain() if self.parent else [])


def apply(f: Callable[..., int], *args: int, **kwargs: "int") -> int:
    inner: int = f(*args, **kwargs)
    return inner


def scale(x: float, /, by: float = 2.0, *, digits: Optional[int] = None) -> float:
    out = x * by
    return round(out, digits) if digits is not None else out


def outer(a: 1 + 1, b: "anything at all" = 3) -> {"json": True}:
    return a + b


later = [{"k": 1, "v": "w"}]
child = Account("child", parent=Account("parent"))
(total): int = apply(lambda a, b, c=0: a + b + c, 1, 2, c=limit)
result = [total, child.chain(), hasattr(child, "balance"), hasattr(Account, "owner"), scale(1.2345, digits=2), scale(3, by=3), outer(1), later, point, sorted(Account.__annotations__)]
#= [13, ["child", "parent"], true, false, 2.47, 9, 4, [{"k": 1, "v": "w"}], [1, 2, 3], ["balance", "history", "owner"]]

#: syntax-parenthesised-with
#: Parenthesised context managers, union types and dictionary merging.
#: since 3.10
class Tag:
    def __init__(self, name: str, out: list[str], swallow: type[Exception] | None = None):
        self.name, self.out, self.swallow = name, out, swallow

    def __enter__(self):
        self.out.append(f"<{self.name}>")
        return self

    def __exit__(self, kind, value, traceback) -> bool:
        self.out.append(f"</{self.name}>")
        return kind is not None and self.swallow is not None and issubclass(kind, self.swallow)


def page(title: str | None, *rows: str) -> str:
    out: list[str] = []
    with (
        Tag("html", out),
        Tag("body", out, swallow=ValueError) as body,
    ):
        if title is None:
            raise ValueError("no title")
        with Tag("h1", out):
            out.append(title)
        for row in rows:
            with Tag("p", out): out.append(row)
        body.out.append("<!-- end -->")
    return "".join(out)


defaults = {"a": 1, "b": 2}
merged = defaults | {"b": 3}
merged |= [("c", 4)]
result = [page("T", "x", "y"), page(None), merged, isinstance(3, int | str), isinstance(None, int | None)]
#= ["<html><body><h1>T</h1><p>x</p><p>y</p><!-- end --></body></html>", "<html><body></body></html>", {"a": 1, "b": 3, "c": 4}, true, true]
