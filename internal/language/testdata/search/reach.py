"""Finds what a script can reach by honest means: builtins, modules, their
attributes, what calls give, and the types of all of these."""
import re
import types

from liars import MADE_OF, START

# The arguments of honest calls.
HONEST = [tuple(line.split("; ")) if line else () for line in """
1
'a'
[2, 1]
(1, 2)
{'a': 1}
b'ab'
1.5
twice
Plain
Plain()
None
int
object
'a b'; {'a': 1}
1; 2
'a'; 1
1; 'a'
'ab'; 'b'
'a'; 'b'; 'c'
twice; [1, 2]
[1, 2]; twice
Plain; ()
Plain(); 'x'
Plain(); Plain()
Plain; int
'P'; 'a b'
'P'; ['A', 'B']
2000; 1; 2
'2000-01-01'; '%Y-%m-%d'
[1, 2]; [1, 3]
['a']; ['b']
{'a': 1}; {'b': 2}
[(1, 2)]
lambda *args: args
'<i'; 1
'<i'; b'abcd'
ValueError('a')
Exception
map(eval, ['sys'])
map(eval, ['_sys'])
map(getattr, [Plain], ['x'])
""".split("\n")[:-1]]

MOST_NODES, MOST_OF_A_TYPE = 4000, 2


BOUND = types.MethodType, types.BuiltinMethodType, types.MethodWrapperType
FUNCTIONS = types.FunctionType, types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType


SLOTS = types.WrapperDescriptorType, types.MethodWrapperType


# Of the prelude: what the search works with.
TOOLS = "seen answers addresses elements marks note type_of Spy SpyingText SpyingDict Element Quiet spy spying_text spying_dict".split()


class Identities(list):
    def __contains__(self, thing):
        return any(thing is other for other in self)


class Node:
    def __init__(self, path, value, worked=()):
        self.path, self.value, self.worked = path, value, list(worked)


class Interpreter:
    """Scripts of one namespace, as the rules compile and run them."""

    def __init__(self, language, refused, modules, addresses):
        self.language, self.modules = language, modules
        self.refusals = (refused, SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
        self.defined = {}
        self.getters, self.space = {}, {"__builtins__": language.builtins, "__name__": "__main__", "addresses": addresses}

    def prelude(self):
        lines = ["import " + ", ".join(sorted(self.modules)) + "\n"] if self.modules else []
        return "".join(lines) + START + "".join(text for name, text in MADE_OF.items() if name in self.modules)

    codes = {}  # of scripts that are run in many processes

    def compiled(self, text):
        return self.codes.get(text) or self.language.compiled(text, "<script>")

    def run(self, text):
        exec(self.compiled(text), self.space)

    def value(self, expression):
        self.run("made = lambda: (%s)\n" % expression)
        return self.space["made"]

    def getter(self, name):
        """Reads an attribute as a script does; None where the rules refuse to."""
        if name not in self.getters:
            self.getters[name] = None
            if re.fullmatch(r"[A-Za-z_]\w*", name):
                space = {"__builtins__": self.language.builtins, "__name__": "__main__"}
                try:
                    exec(self.language.compiled("get = lambda x: x.%s\n" % name, "<script>"), space)
                    self.getters[name] = space["get"]
                except self.refusals:
                    pass
        return self.getters[name]

    def definable(self, name):
        """Whether a class may define a method of that name."""
        if name not in self.defined:
            try:
                self.language.compiled("class K:\n    def %s(self): pass\n" % name, "<script>")
                self.defined[name] = name.isidentifier()
            except self.refusals:
                self.defined[name] = False
        return self.defined[name]

    def roots(self):
        for name in sorted(self.language.builtins):
            if name.isidentifier() and not name.startswith("_") and name not in ("True", "False", "None"):
                yield name
        yield from sorted(self.modules)
        for name in sorted(self.space):
            if not name.startswith("_") and name not in self.modules and name not in TOOLS and name != "made":
                yield name


class Reach:
    def __init__(self, interpreter, oracle, limited):
        self.interpreter, self.oracle = interpreter, oracle
        self.nodes, self.seen, self.wrong, self.kept, self.roots = [], {}, [], [], Identities()
        self.arguments = []
        self.limited = limited  # calls, but not for long

    def walk(self):
        for args in HONEST:
            try:
                self.arguments.append((args, self.interpreter.value("(%s)" % "".join(a + "," for a in args))))
            except self.interpreter.refusals:
                pass
        queue = []
        for name in self.interpreter.roots():
            try:
                queue.append((name, self.interpreter.value(name)(), 0))
            except Exception:
                continue
            self.roots.append(queue[-1][1])
        while queue and len(self.nodes) < MOST_NODES:
            path, value, depth = queue.pop(0)
            why = self.oracle.judge(value)
            if why:
                self.wrong.append((path, why))
            if not self.fresh(value):
                continue
            try:
                self.oracle.judge(iter(value))
            except Exception:
                pass
            node = Node(path, value)
            self.nodes.append(node)
            if not isinstance(value, type):
                queue.append(("type(%s)" % path, self.interpreter.space["type_of"](value), depth + 1))
            queue.extend((p, v, depth + 1) for p, v in self.attributes(path, value))
            if callable(value) and depth < 4:
                queue.extend((p, v, depth + 1) for p, v in self.calls(node))
        return self

    def fresh(self, value):
        """Whether there are not enough of its like."""
        kind = type(value)
        owner = getattr(value, "__self__", None) if kind in BOUND else None
        if issubclass(kind, type):
            # Most exceptions differ by their names alone.
            plain = issubclass(value, BaseException) and not (set(vars(value)) - {"__module__", "__doc__", "__init__", "__new__", "__weakref__"})
            key, most = ("exception", 3) if plain else (id(value), 1)
        elif owner is not None and not isinstance(owner, types.ModuleType):
            key, most = (id(owner) if isinstance(owner, type) else id(type(owner)), value.__name__), 1
        elif kind is types.FunctionType:
            key, most = id(value.__code__), 1 if value.__closure__ is None else 2
        elif kind in FUNCTIONS or value in self.roots:
            key, most = id(value), 1
        else:
            key, most = ("object", id(kind)), MOST_OF_A_TYPE
        self.kept.append(value)  # for its address
        self.seen[key] = self.seen.get(key, 0) + 1
        return self.seen[key] <= most

    def attributes(self, path, value):
        for name in dir(type(value)) + list(getattr(value, "__dict__", ())) if not isinstance(value, type) else dir(value):
            if type(name) is not str or name.startswith("__") and not isinstance(value, type) and name != "__init__":
                continue
            get = self.interpreter.getter(name)
            if get is None:
                continue
            try:
                found = get(value)
            except Exception:
                continue
            if type(found) not in SLOTS and name != "__init_subclass__" or value is object:  # the others are what operators use
                yield "%s.%s" % (path, name), found

    def calls(self, node):
        given = 0
        for args, make in self.arguments:
            try:
                result = self.limited(node.value, make())
            except (Exception, SystemExit) as error:
                if self.fresh(error):
                    self.oracle.judge(error)
                continue
            node.worked.append(args)
            given += 1
            if given <= 12:
                yield "%s(%s)" % (node.path, ", ".join(args)), result
