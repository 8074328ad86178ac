#: expression-parser
#: A recursive descent parser and evaluator for arithmetic with functions and variables.
import math
import re


class ParseError(Exception):
    pass


class Parser:
    TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|(\w+)|(\*\*|[-+*/%()^,]))")
    FUNCTIONS = {"sqrt": math.sqrt, "max": max, "min": min, "abs": abs}
    CONSTANTS = {"pi": math.pi, "e": math.e}

    def __init__(self, text, variables=None):
        self.tokens = list(self.tokenize(text))
        self.pos = 0
        self.vars = {**self.CONSTANTS, **(variables or {})}

    def tokenize(self, text):
        pos, text = 0, text.rstrip()
        while pos < len(text):
            m = self.TOKEN.match(text, pos)
            if not m:
                raise ParseError(f"bad character {text[pos]!r} at {pos}")
            pos = m.end()
            number, name, op = m.groups()
            yield ("num", float(number)) if number else ("name", name) if name else ("op", op)

    def peek(self):
        return self.tokens[self.pos] if self.pos < len(self.tokens) else (None, None)

    def take(self, *values):
        kind, value = self.peek()
        if kind == "op" and value in values:
            self.pos += 1
            return value
        return None

    def expect(self, value):
        if not self.take(value):
            raise ParseError(f"expected {value!r}, found {self.peek()[1]!r}")

    def parse(self):
        value = self.sum()
        if self.pos < len(self.tokens):
            raise ParseError(f"unexpected {self.peek()[1]!r}")
        return value

    def sum(self):
        value = self.product()
        while op := self.take("+", "-"):
            right = self.product()
            value = value + right if op == "+" else value - right
        return value

    def product(self):
        value = self.unary()
        while op := self.take("*", "/", "%"):
            right = self.unary()
            value = value * right if op == "*" else value / right if op == "/" else value % right
        return value

    def unary(self):
        return -self.unary() if self.take("-") else self.power()

    def power(self):
        base = self.atom()
        return base ** self.unary() if self.take("^", "**") else base

    def atom(self):
        if self.take("("):
            value = self.sum()
            self.expect(")")
            return value
        kind, value = self.peek()
        self.pos += 1
        if kind == "num":
            return value
        if kind == "name":
            if self.take("("):
                args = [self.sum()]
                while self.take(","):
                    args.append(self.sum())
                self.expect(")")
                return self.FUNCTIONS[value](*args)
            return self.vars[value]
        raise ParseError(f"unexpected {value!r}")


def calculate(text, **variables):
    try:
        return round(Parser(text, variables).parse(), 6)
    except ZeroDivisionError:
        return "division by zero"
    except (ParseError, KeyError) as e:
        return f"{type(e).__name__}: {e}"


result = [calculate(t, x=3) for t in ("1 + 2 * 3", "-2 ^ 2", "2 ^ 3 ^ 2", "(1 + x) * sqrt(16)", "max(1, x, 2) % 2", "pi * 2", "1 +", "2 $ 3", "1 / 0", "y", "(1")]
#= [7.0, -4.0, 512.0, 16.0, 1.0, 6.283185, "ParseError: unexpected None", "ParseError: bad character ' ' at 1", "division by zero", "KeyError: 'y'", "ParseError: expected ')', found None"]

#: lisp-interpreter
#: A small Lisp with closures, recursion, lists and quoting.
import operator as op
from functools import reduce


class Env(dict):
    def __init__(self, names=(), values=(), outer=None):
        super().__init__(zip(names, values))
        self.outer = outer

    def find(self, name):
        if name in self:
            return self
        if self.outer is None:
            raise NameError(name)
        return self.outer.find(name)


class Procedure:
    def __init__(self, params, body, env):
        self.params, self.body, self.env = params, body, env

    def __call__(self, *args):
        return evaluate(self.body, Env(self.params, args, self.env))


def tokenize(text):
    return text.replace("(", " ( ").replace(")", " ) ").split()


def read(tokens):
    token = tokens.pop(0)
    if token == "(":
        out = []
        while tokens[0] != ")":
            out.append(read(tokens))
        tokens.pop(0)
        return out
    if token == ")":
        raise SyntaxError("unexpected )")
    try:
        return int(token)
    except ValueError:
        return token


def evaluate(x, env):
    if isinstance(x, str):
        return env.find(x)[x]
    if not isinstance(x, list):
        return x
    head, *args = x
    if head == "quote":
        return args[0]
    if head == "if":
        test, yes, no = args
        return evaluate(yes if evaluate(test, env) else no, env)
    if head == "define":
        name, value = args
        env[name] = evaluate(value, env)
        return None
    if head == "lambda":
        return Procedure(args[0], args[1], env)
    f, *values = [evaluate(e, env) for e in x]
    return f(*values)


GLOBAL = Env()
GLOBAL.update({"+": lambda *a: sum(a), "*": lambda *a: reduce(op.mul, a, 1), "-": op.sub, "<": op.lt, "=": op.eq, "car": lambda l: l[0], "cdr": lambda l: l[1:], "cons": lambda a, l: [a] + l, "list": lambda *a: list(a), "null?": lambda l: l == []})


def run(text):
    tokens, out = tokenize(text), []
    while tokens:
        value = evaluate(read(tokens), GLOBAL)
        if value is not None:
            out.append(value)
    return out


program = """
(define fact (lambda (n) (if (< n 2) 1 (* n (fact (- n 1))))))
(define map (lambda (f l) (if (null? l) (quote ()) (cons (f (car l)) (map f (cdr l))))))
(define adder (lambda (n) (lambda (x) (+ x n))))
(fact 20)
(map (adder 10) (list 1 2 3))
(quote (a (b c)))
"""
try:
    run("(undefined 1)")
except NameError as e:
    error = f"unbound {e}"
result = [run(program), error]
#= [[2432902008176640000, [11, 12, 13], ["a", ["b", "c"]]], "unbound undefined"]

#: stack-machine
#: A bytecode compiler and virtual machine with jumps and calls.
class VM:
    def __init__(self, code, limit=10_000):
        self.code, self.limit = code, limit
        self.stack, self.calls, self.output = [], [], []
        self.names = {}
        self.ip = self.steps = 0
        self.table = {
            "push": self.push, "load": self.load, "store": self.store, "add": self.binary(lambda a, b: a + b),
            "sub": self.binary(lambda a, b: a - b), "mul": self.binary(lambda a, b: a * b), "lt": self.binary(lambda a, b: int(a < b)),
            "jump": self.jump, "jz": self.jump_if_zero, "call": self.call, "ret": self.ret, "print": self.print,
        }

    def push(self, value):
        self.stack.append(value)

    def load(self, name):
        self.stack.append(self.names[name])

    def store(self, name):
        self.names[name] = self.stack.pop()

    def binary(self, f):
        def run(_):
            b, a = self.stack.pop(), self.stack.pop()
            self.stack.append(f(a, b))

        return run

    def jump(self, target):
        self.ip = target

    def jump_if_zero(self, target):
        if not self.stack.pop():
            self.ip = target

    def call(self, target):
        self.calls.append(self.ip)
        self.ip = target

    def ret(self, _):
        self.ip = self.calls.pop()

    def print(self, _):
        self.output.append(self.stack.pop())

    def run(self):
        while self.code[self.ip][0] != "halt":
            op, arg = self.code[self.ip]
            self.ip += 1
            self.steps += 1
            if self.steps > self.limit:
                raise TimeoutError("too many steps")
            self.table[op](arg)
        return self.output


def assemble(text):
    code, labels = [], {}
    for line in text.strip().splitlines():
        line = line.split(";")[0].strip()
        if line.endswith(":"):
            labels[line[:-1]] = len(code)
        elif line:
            op, _, arg = line.partition(" ")
            code.append((op, arg.strip() or None))
    fix = lambda arg: labels.get(arg, int(arg) if arg and arg.lstrip("-").isdigit() else arg)
    return [(op, fix(arg)) for op, arg in code]


SOURCE = """
    push 0
    store i
loop:
    load i
    push 5
    lt
    jz end
    call square   ; prints i*i
    load i
    push 1
    add
    store i
    jump loop
square:
    load i
    load i
    mul
    print
    ret
end:
    halt
"""
vm = VM(assemble(SOURCE))
output = vm.run()
try:
    VM(assemble("again:\njump again\nhalt"), limit=50).run()
    endless = None
except TimeoutError as e:
    endless = str(e)
result = [output, vm.steps, vm.names, endless, len(vm.code)]
#= [[0, 1, 4, 9, 16], 81, {"i": 5}, "too many steps", 18]

#: template-engine
#: A template engine with loops, conditions and filters compiled to closures.
import re


class TemplateError(ValueError):
    pass


FILTERS = {"upper": str.upper, "title": str.title, "length": len, "money": "{:.2f}".format}


def lookup(path, scope):
    name, *filters = [p.strip() for p in path.split("|")]
    value = scope
    for part in name.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    for f in filters:
        value = FILTERS[f](value)
    return value


def parse(tokens, stop=()):
    nodes = []
    while tokens:
        token = tokens.pop(0)
        if token.startswith("{{"):
            nodes.append(lambda scope, path=token[2:-2].strip(): str(lookup(path, scope)))
        elif token.startswith("{%"):
            word, *rest = token[2:-2].split()
            if word in stop:
                return nodes, word
            if word == "for":
                name, _, path = rest
                body, _ = parse(tokens, ("end",))
                nodes.append(lambda scope, n=name, p=path, b=body: "".join(render(b, {**scope, n: item}) for item in lookup(p, scope)))
            elif word == "if":
                yes, end = parse(tokens, ("else", "end"))
                no = parse(tokens, ("end",))[0] if end == "else" else []
                nodes.append(lambda scope, p=rest[0], y=yes, n=no: render(y if lookup(p, scope) else n, scope))
            else:
                raise TemplateError(f"unknown tag {word}")
        elif token:
            nodes.append(lambda scope, text=token: text)
    if stop:
        raise TemplateError(f"missing {stop[-1]}")
    return nodes, None


def render(nodes, scope):
    return "".join(node(scope) for node in nodes)


def template(text):
    nodes, _ = parse(re.split(r"(\{\{.*?\}\}|\{%.*?%\})", text))
    return lambda **scope: render(nodes, scope)


page = template("Hi {{ user.name | title }}!{% for i in items %} {{ i.what }}={{ i.price|money }}{% if i.sale %}*{% else %}-{% end %}{% end %} ({{ items|length }})")
errors = []
for bad in ("{% if x %}", "{% loop %}"):
    try:
        template(bad)
    except TemplateError as e:
        errors.append(str(e))
result = [page(user={"name": "ann lee"}, items=[{"what": "tea", "price": 2, "sale": True}, {"what": "pot", "price": 9.5, "sale": False}]), page(user={"name": "bo"}, items=[]), errors]
#= ["Hi Ann Lee! tea=2.00* pot=9.50- (2)", "Hi Bo! (0)", ["missing end", "unknown tag loop"]]

#: ast-visitor
#: A syntax tree with visitors chosen by class name through a table.
class Node:
    fields = ()

    def __init__(self, *values):
        if len(values) != len(self.fields):
            raise TypeError(f"{type(self).__name__} takes {len(self.fields)} values")
        self.values = dict(zip(self.fields, values))

    def __getattr__(self, name):
        if name == "values":
            raise AttributeError(name)
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.values.values()))})"


class Const(Node):
    fields = ("value",)


class Name(Node):
    fields = ("id",)


class Bin(Node):
    fields = ("op", "left", "right")


class Visitor:
    def __init__(self):
        self.handlers = {}

    def on(self, cls):
        def register(f):
            self.handlers[cls.__name__] = f
            return f

        return register

    def visit(self, node, *args):
        handler = self.handlers.get(type(node).__name__)
        if handler is None:
            raise NotImplementedError(type(node).__name__)
        return handler(node, *args)


printer, evaluator, names = Visitor(), Visitor(), Visitor()


@printer.on(Const)
def _(n):
    return str(n.value)


@printer.on(Name)
def _(n):
    return n.id


@printer.on(Bin)
def _(n):
    return f"({printer.visit(n.left)} {n.op} {printer.visit(n.right)})"


evaluator.on(Const)(lambda n, env: n.value)
evaluator.on(Name)(lambda n, env: env[n.id])
OPS = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}
evaluator.on(Bin)(lambda n, env: OPS[n.op](evaluator.visit(n.left, env), evaluator.visit(n.right, env)))
names.on(Const)(lambda n: set())
names.on(Name)(lambda n: {n.id})
names.on(Bin)(lambda n: names.visit(n.left) | names.visit(n.right))
tree = Bin("+", Const(2), Bin("*", Name("x"), Name("y")))
try:
    Const()
    error = None
except TypeError as e:
    error = str(e)
result = [printer.visit(tree), evaluator.visit(tree, {"x": 3, "y": 4}), sorted(names.visit(tree)), repr(tree), hasattr(tree, "op"), hasattr(tree, "nothing"), error]
#= ["(2 + (x * y))", 14, ["x", "y"], "Bin('+', Const(2), Bin('*', Name('x'), Name('y')))", true, false, "Const takes 1 values"]

#: regex-engine
#: A tiny regular expression matcher with memo and a finite automaton.
from functools import lru_cache


def matches(pattern, text):
    @lru_cache(maxsize=None)
    def go(i, j):
        if i == len(pattern):
            return j == len(text)
        first = j < len(text) and pattern[i] in (text[j], ".")
        if i + 1 < len(pattern) and pattern[i + 1] == "*":
            return go(i + 2, j) or (first and go(i, j + 1))
        return first and go(i + 1, j + 1)

    return go(0, 0)


class DFA:
    def __init__(self, start, accept, table):
        self.start, self.accept, self.table = start, set(accept), table

    @classmethod
    def for_word(cls, word, alphabet="ab"):
        table = {}
        for state in range(len(word) + 1):
            for ch in alphabet:
                seen = word[:state] + ch
                table[state, ch] = next(k for k in range(min(len(word), state + 1), -1, -1) if seen.endswith(word[:k]))
        return cls(0, [len(word)], table)

    def run(self, text):
        state = self.start
        for position, ch in enumerate(text, 1):
            state = self.table[state, ch]
            if state in self.accept:
                yield position


cases = [("a*b", "aaab"), ("a*b", "c"), (".*", "anything"), ("c*a*b", "aab"), ("mis*is*p*.", "mississippi"), ("", "")]
divisible = DFA("0", ["0"], {(str(r), d): str((r * 2 + int(d)) % 3) for r in range(3) for d in "01"})
result = [[matches(p, t) for p, t in cases], list(DFA.for_word("aba").run("ababa")), [n for n in range(1, 20) if bin(n)[2:] and list(divisible.run(bin(n)[2:]))[-1:] == [len(bin(n)) - 2]]]
#= [[true, false, true, true, false, true], [3, 5], [3, 6, 9, 12, 15, 18]]
