"""The statements that a liar is put into. Each form is a function `probe(x)` in the
text of a restricted script."""
import itertools

from reach import HONEST

# A library object r meets the liar x in every way that the language has.
OPERATORS = """
r == x
x == r
r != x
r < x
x >= r
r + x
x + r
r - x
r * x
r % x
x % r
r | x
x | r
r & x
r ^ x
x ^ r
r // x
r / x
r ** x
x ** r
r @ x
r << x
divmod(r, x)
-x
r[x]
x[r]
r[x:x]
r[0:x]
x in r
r in x
r(x)
r(x, x)
r(*x)
r(**x)
x(r)
f"{r:{x}}"
f"{x:{r}}"
f"{x!r}{r!r}"
"%s %s" % (x, r)
"%(a)s" % x
format(r, x)
[*r, *x]
{**x}
{x: r}[r]
{r: x}[x]
{r, x}
sorted([r, x, r])
max(r, x)
min([x, r])
sum([r, x])
list(map(r, x))
list(zip(r, x))
list(filter(r, [x]))
list(iter(r, x))
isinstance(x, r)
isinstance(r, x)
issubclass(x, r)
issubclass(r, x)
isinstance(x, (r, x))
hash((r, x))
repr([r, x])
str(x)
bytes(x)
dict(x)
dict([x, x])
set(x)
tuple(x)
int(x)
round(r, x)
pow(r, x, x)
super(r, x)
super(x, r)
print(x, file=r)
print(r, sep=x, end=x)
print(r, file=x)
(a := x) == r
[a for a in r if a == x]
hasattr(x, 'a')
hasattr(r, x)
r.__eq__(x)
r.__init__(x)
r.__getattribute__(x)
r.__setattr__('a', x)
r.__setattr__(x, x)
object.__getattribute__(x, 'a')
type(r)(x)
type(r)(x, x)
type(x)(r)
type(r).__eq__(x, r)
r.__class_getitem__(x)
property(x).__get__(r)
staticmethod(x).__get__(r)
""".strip().split("\n")

STATEMENTS = """
with r as a, x as b:
    note(a, b)
with x:
    raise r
for a in r:
    note(a)
    break
for a in x:
    note(a in r)
a, *b = x
a, b = r
raise x
raise r from x
try:
    raise x
except r as e:
    note(e)
try:
    raise r
except x as e:
    note(e)
del r[x]
r[x] = x
x[r] = r
r |= x
r += x
r -= x
r &= x
x |= r
r.a = x
x.a = r
del r.a
assert not r == x, x
class K(x):
    pass
class K(r, x):
    pass
class K(x, r):
    pass
class K(r, a=x):
    a: int = x
class K(Quiet, r):
    a = x
class K(r):
    a = x
class K(r[x]):
    pass
class K(r):
    a: x = x
class K:
    a: x = 1
class K:
    a: int = x
    b: r = r
class K:
    a = r
class K(Plain, a=x):
    a = property(x)
@r
class K:
    a: int = x
@r
class K(Plain):
    a: x = x
    def method(self, a: x = x): return a
@r
class K(x):
    b: int = 1
@r
def K(a: x = x): return x
@r(x)
def K(a: int = 1): return x
@r(x)
class K:
    a: int = 1
async def go(): return await x
async def go(): return await r(x)
async def go():
    async with x as a: note(a, r)
async def go():
    async for a in x: note(a, r)
def go():
    yield from x
""".strip()

MATCHES = """
match x:
    case r(): note(1)
match x:
    case r(a=b): note(b)
match r:
    case x(a): note(a)
match x:
    case {"a": a, **b}: note(a, b)
match x:
    case [a, *b]: note(a, b)
""".strip()


def statements(text):
    """The statements of a text, each a list of lines; a decorator belongs to what follows."""
    found = []
    for line in text.split("\n"):
        joined = found and (line.startswith((" ", "except")) or found[-1][-1].startswith("@"))
        if joined:
            found[-1].append(line)
        else:
            found.append([line])
    return found


class Weighted:
    """Nodes to choose from. What is written in Python believes more than what is written in C."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.weights = list(itertools.accumulate(n["weight"] for n in nodes))


AFTERWARDS = ["list(made)", "next(made)", "made(x)", "made()", "made == x", "x == made", "made | x", "x in made", "made[x]", "made[0]", "repr(made)", "hash(made)",
              "made.%s(x)", "made.%s(x)", "made.%s()", "made.%s", "made.%s(x, x)", "type(made)(x)", "f'{made}'", "len(made)", "sorted(made)", "dict(made)", "made < made",
              "made == made", "[*made]", "{**made}", "str(made)", "made.%s(1)", "made.%s('a')"]
USES = ["K()", "K(1)", "K(x)", "K(1) == K(1)", "K() == x", "K() < x", "repr(K())", "hash(K())", "K().a", "K.a", "K[x]", "isinstance(x, K)", "K(a=x)", "list(K)", "K(K())"]


class Forms:
    def __init__(self, nodes, version):
        self.rng = None  # of the form that is made
        self.callables = Weighted([n for n in nodes if n["callable"]])
        self.takers = Weighted([n for n in nodes if ["Plain"] in n["worked"] or ["twice"] in n["worked"]])
        self.classes = Weighted([n for n in nodes if n["names"]])
        self.values = Weighted(nodes)
        self.names = sorted({name for n in nodes for name in n["path"].split(".")[-1:] if name.isidentifier()})
        self.statements = statements(STATEMENTS) + (statements(MATCHES) if version >= (3, 10) else [])

    def make(self):
        return self.rng.choice((self.call, self.call, self.call, self.operator, self.statement, self.subclass, self.decorated, self.decorated))()

    def pick(self, nodes):
        return self.rng.choices(nodes.nodes, cum_weights=nodes.weights)[0]

    def probe(self, lines):
        return "def probe(x):\n" + "".join("    %s\n" % line for line in lines)

    def arguments(self, node):
        """Arguments with the liar among them; most often in the place of one that works."""
        rng = self.rng
        args = list(rng.choice(node["worked"] or HONEST) if rng.random() < 0.8 else rng.choice(HONEST))
        how = rng.random()
        if args and how < 0.6:
            args[rng.randrange(len(args))] = "x"
        elif how < 0.8 or not node["keywords"]:
            args.append("x")
        else:
            args.append("%s=x" % rng.choice(node["keywords"]))
        if rng.random() < 0.15 and node["keywords"]:
            args = [a for a in args if "=" not in a or a.startswith(("'", "l"))] + ["%s=x" % rng.choice(node["keywords"])]
        if rng.random() < 0.05:
            args.append(rng.choice(("*x", "**x")))
        return ", ".join(args)

    def called(self, node):
        return "%s(%s)" % (node["path"], self.arguments(node))

    def afterwards(self):
        lines = []
        for _ in range(self.rng.choice((0, 0, 1, 1, 2))):
            use = self.rng.choice(AFTERWARDS)
            lines.append("note('result', %s)" % (use % self.rng.choice(self.names) if "%s" in use else use))
        return lines

    def call(self):
        node = self.pick(self.callables)
        return self.probe(["made = " + self.called(node), "note('result', made)"] + self.afterwards())

    def operator(self):
        return self.probe(["r = " + self.pick(self.values)["path"], "note('result', %s)" % self.rng.choice(OPERATORS)])

    def statement(self):
        lines = list(self.rng.choice(self.statements))
        first = "r = " + self.pick(self.callables if lines[0].startswith(("class", "@")) else self.values)["path"]
        if " go" in lines[0]:
            lines += ["running = go()", "note('result', running.send(None))", "note('result', running.send(None))"]
        if " K" in "\n".join(lines):
            lines += ["note('result', K)"] + ["note('result', %s)" % use for use in self.rng.sample(USES, 3)]
        return self.probe([first] + lines)

    def decorated(self):
        """A class or function with the liar in it, given to a callable."""
        node = self.pick(self.takers if self.rng.random() < 0.7 else self.callables)
        fields = self.rng.sample(["a: int = x", "b: x = 1", "c = x", "d: 'x' = x", "def e(self, a: x = x): return x", "f = property(x)", "__slots__ = ('g',)",
                                  "__match_args__ = ('a',)", "h: int = 1", "def __eq__(self, other): note(other)", "def __hash__(self): return 1",
                                  "def __lt__(self, other): note(other)", "def __getattr__(self, name): return answers[name]"], self.rng.randint(1, 4))
        base = self.rng.choice(("", "", "(Plain)", "(x)", "(%s)" % self.pick(self.classes)["path"], "(Quiet, %s)" % self.pick(self.classes)["path"]))
        lines = ["class K%s:" % base] + ["    " + f for f in fields]
        options = self.rng.choice(("", "", "", ", x", ", 'a'", ", %s=x" % self.rng.choice(node["keywords"] or ["a"])))
        return self.probe(lines + ["made = %s(%s%s)" % (node["path"], self.rng.choice(("K", "K", "K()", "K().e")), options), "note('result', made)"]
                          + self.afterwards() + ["note('result', %s)" % self.rng.choice(USES)])

    def subclass(self):
        """A class of the library with some methods of the script's own, used as the library uses it."""
        rng = self.rng
        node = self.pick(self.classes)
        names = rng.sample(node["names"], min(len(node["names"]), rng.choice((1, 1, 2, 3, 100))))
        quiet = rng.choice(("", "", "Quiet, "))
        lines = ["class K(%s%s):" % (quiet, node["path"])]
        for name in names:
            answer = rng.choice(("super().%s(*args, **kwargs)" % name, "super().%s(*args, **kwargs)" % name, "x", "answers.get(%r)" % name))
            lines += ["    def %s(self, *args, **kwargs):" % name, "        seen.append((%r, args, kwargs))" % name, "        return " + answer]
        if rng.random() < 0.2:
            lines.append("    %s = x" % rng.choice(names))
        args = ", ".join(rng.choice(node["worked"])) if node["worked"] else ""
        lines.append("made = " + rng.choice(("K(%s)" % args, "K(%s)" % args, "K(x)", "K", "K.__new__(K)")))
        lines.append("note('result', made)")
        lines += self.afterwards()
        methods = [n for n in self.callables.nodes if n["path"].startswith(node["path"] + ".")]
        related = Weighted(methods) if methods else self.callables
        for nodes in (related, self.callables)[: rng.randint(1, 2)]:
            other = self.pick(nodes)
            lines.append("note('result', %s)" % self.called(other).replace("x", "made", 1) if rng.random() < 0.2 else
                         "note('result', %s(%s))" % (other["path"], ", ".join(["made"] + list(rng.choice(other["worked"] or HONEST))[1:])))
        return self.probe(lines)
