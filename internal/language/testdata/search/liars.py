"""The objects that lie, written as restricted scripts.

Each method of a liar notes its arguments in `seen`; then it answers as the dict
`answers` says, else as an honest object would.
"""

# What an honest method answers, for those that a class may define.
METHODS = {
    "identity": {
        "__eq__": "False", "__hash__": "7", "__ne__": "True", "__lt__": "True", "__le__": "True", "__gt__": "False", "__ge__": "False",
        "__bool__": "True",
    },
    "text": {"__str__": "'zq'", "__repr__": "'zq'", "__format__": "'zq'", "__bytes__": "b'zq'", "__fspath__": "'zq'"},
    "number": {
        "__index__": "1", "__int__": "1", "__float__": "1.5", "__complex__": "1j", "__round__": "1", "__trunc__": "1", "__floor__": "1",
        "__ceil__": "1", "__neg__": "1", "__pos__": "1", "__abs__": "1", "__invert__": "1",
        **{"__%s%s__" % (side, name): "self" for name in """add sub mul matmul truediv floordiv mod divmod pow lshift rshift
            and xor or""".split() for side in ("", "r", "i") if (side, name) != ("i", "divmod")},
    },
    "call": {"__call__": "self"},
    "sequence": {
        "__len__": "2", "__length_hint__": "2", "__iter__": "iter([1, 2])", "__getitem__": "1", "__contains__": "True",
        "__reversed__": "iter([2, 1])", "__setitem__": "None", "__delitem__": "None", "__missing__": "1",
        "keys": "['a']", "items": "[('a', 1)]", "values": "[1]", "get": "1", "copy": "self", "append": "None", "update": "None",
    },
    "iterator": {"__iter__": "self", "__next__": "1"},
    "context": {"__enter__": "self", "__exit__": "True", "__aenter__": "self", "__aexit__": "self", "__await__": "iter(())"},
    "descriptor": {"__get__": "self", "__set__": "None", "__delete__": "None", "__set_name__": "None"},
    "copying": {"__copy__": "self", "__deepcopy__": "self", "__replace__": "self", "__getstate__": "{'a': 1}", "__setstate__": "None"},
    "stores": {"__setattr__": "None", "__delattr__": "None", "__dir__": "['a']"},
    "class": {"__init_subclass__": "None", "__class_getitem__": "cls", "__subclasshook__": "NotImplemented", "__post_init__": "None"},
    "death": {"__del__": "None"},
}
# Nobody may ask a base for these.
NOT_OF_A_BASE = ("__del__", "__dir__", "__getstate__", "__setstate__", "__get__", "__set__", "__delete__")
ON_CLASS = ("__init_subclass__", "__class_getitem__", "__subclasshook__")

# What a liar is made of: its base, and the arguments that it is made with.
BASES = {
    "object": "", "str": "'zq'", "int": "3", "float": "1.5", "tuple": "(1, 2)", "list": "[1, 2]", "dict": "{'a': 1}", "set": "{1, 2}",
    "frozenset": "{1, 2}", "bytes": "b'zq'", "Exception": "'zq'", "StopIteration": "'zq'", "complex": "1j", "property": "twice",
}

ASKING = {
    # Asked for everything, with the few names left out that the rules refuse to read.
    "__getattribute__": """
    def __getattribute__(self, name):
        seen.append(("asked", name))
        if name in answers:
            return answers[name]
        if name[:2] == "__":
            raise AttributeError(name)
        return super().__getattribute__(name)
""",
    "__getattr__": """
    def __getattr__(self, name):
        seen.append(("asked", name))
        if name in answers:
            return answers[name]
        raise AttributeError(name)
""",
    "": "",
}


class Liar:
    """The text of one class, and of an object of it."""

    def __init__(self, name, base, methods, asking):
        self.name, self.base, self.methods, self.asking = name, base, dict(methods), asking

    def text(self):
        lines = ["class %s%s:" % (self.name, "(%s)" % self.base if self.base != "object" else "")]
        lines.append(ASKING[self.asking].strip("\n") or "    pass")
        for name, honest in self.methods.items():
            first = "cls" if name in ON_CLASS else "self"
            if self.base != "object" and name not in NOT_OF_A_BASE:
                honest = "super().%s(*args, **kwargs)" % name
            if name in ON_CLASS and name != "__init_subclass__":
                lines.append("    @classmethod")
            lines += [
                "    def %s(%s, *args, **kwargs):" % (name, first),
                "        seen.append((%r, args, kwargs))" % name,
                "        return answers[%r] if %r in answers else %s" % (name, name, honest),
            ]
        return "\n".join(lines) + "\n"

    def made(self):
        return "%s(%s)" % (self.name, BASES.get(self.base, ""))

    def without(self, method):
        fewer = {n: v for n, v in self.methods.items() if n != method}
        return Liar(self.name, self.base, fewer, self.asking)


def liars():
    """A fixed set, in which each group of methods and each base comes alone and
    together with others."""
    groups = {name: METHODS[name] for name in METHODS}
    found = [("object", {}, "__getattribute__"), ("object", {}, "__getattr__"), ("object", METHODS["identity"], "__getattribute__")]
    for name in groups:
        found.append(("object", dict(METHODS["identity"], **groups[name]), "__getattr__"))
    for name in "call", "sequence", "descriptor", "context", "stores", "copying":
        found.append(("object", groups[name], "__getattribute__"))
    everything = {n: v for group in groups.values() for n, v in group.items() if n not in ("__del__", "__missing__")}
    found.append(("object", everything, "__getattribute__"))
    for base in BASES:
        if base == "object":
            continue
        kind = {"Exception": Exception, "property": property}.get(base) or getattr(__import__("builtins"), base)
        own = {n: v for n, v in everything.items() if hasattr(kind, n) and n not in ("__class_getitem__", "__subclasshook__")}
        public = {n: "None" for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))}
        found.append((base, own, "__getattr__"))
        found.append((base, dict({n: v for n, v in own.items() if n in METHODS["identity"] or n in METHODS["text"]}, **public), "__getattribute__"))
        found.append((base, {n: v for n, v in own.items() if n in METHODS["identity"]}, ""))
    return [Liar("Liar%d" % i, *parts) for i, parts in enumerate(found)]


# What a name that the library asks for is answered with; a %s is a class that a
# script can reach.
LIES = {
    "__class__": ["%s", "%s", "%s", "%s", "str", "int", "dict", "tuple", "Plain"],
    "__mro__": ["elements", "tuple(elements)", "(object,)", "(int, object)", "(%s, object)"],
    "__bases__": ["(object,)", "tuple(elements)", "(int,)", "(%s,)"],
    "__mro_entries__": ["lambda bases: (object,)", "lambda bases: (%s,)", "lambda bases: (Plain,)"],
    "__dict__": ["{}", "{'a': spy}", "spying_dict", "{'zq': 1, marks[0]: 2}"],
    "__annotations__": ["{}", "{'a': int}", "{marks[0]: int, 'x': int}", "spying_dict", "{'a': marks[3]}"],
    "__name__": ["'zq'", "marks[0]", "spying_text", "'__class__'"],
    "__module__": ["'zqmark'", "'os'", "'builtins'", "'__main__'", "spying_text"],
    "__reduce_ex__": ["lambda protocol: (twice, (1,))", "lambda protocol: (%s, ())", "lambda protocol: (Plain, (), {'a': 1})",
                      "lambda protocol: 'zqmark'", "lambda protocol: (spy, (), spy, spy, spy)"],
    "__traceback__": ["spy", "None"],
    "__wrapped__": ["spy", "twice", "Plain", "len"],
    "": ["None", "True", "False", "1", "'zq'", "'a'", "marks[0]", "marks[1]", "marks[2]", "()", "(object,)", "('a', 'b')", "[]", "['a']", "{}", "{'a': 1}",
         "spying_dict", "spying_text", "spy", "twice", "Plain", "Plain()", "elements", "'__class__'", "'__globals__'", "'__dict__'",
         "lambda *args, **kwargs: note('called', args, kwargs)", "lambda *args, **kwargs: ''", "lambda *args, **kwargs: (1, 2)",
         "%s", "iter([])", "[spy]", "(spy, spy)"],
}

START = '''
seen, answers = [], {}

def note(*what):
    seen.append(what)

class Spy:
    """Notes all that it is asked and told."""
    def __getattr__(self, name):
        seen.append(("asked", name))
        raise AttributeError(name)
    def __eq__(self, *args):
        seen.append(("__eq__", args))
        return False
    def __hash__(self):
        return 7
    def __call__(self, *args, **kwargs):
        seen.append(("__call__", args, kwargs))
        return self
    def __getitem__(self, *args):
        seen.append(("__getitem__", args))
        raise IndexError
    def __setitem__(self, *args):
        seen.append(("__setitem__", args))
    def __set_name__(self, *args):
        seen.append(("__set_name__", args))
    def __get__(self, *args):
        seen.append(("__get__", args))
        return self

class SpyingText(str):
    def __eq__(self, *args):
        seen.append(("__eq__", args))
        return super().__eq__(*args)
    def __hash__(self):
        return super().__hash__()
    def __format__(self, *args):
        seen.append(("__format__", args))
        return "zq"

class SpyingDict(dict):
    def __getitem__(self, *args):
        seen.append(("__getitem__", args))
        return super().__getitem__(*args)
    def __setitem__(self, *args):
        seen.append(("__setitem__", args))
        return super().__setitem__(*args)
    def __eq__(self, *args):
        seen.append(("__eq__", args))
        return False
    def __or__(self, *args):
        seen.append(("__or__", args))
        return self
    def __ror__(self, *args):
        seen.append(("__ror__", args))
        return self
    def update(self, *args, **kwargs):
        seen.append(("update", args, kwargs))
    def get(self, *args):
        seen.append(("get", args))
        return super().get(*args)

class Element:
    """Is found where a hidden class is: a script finds its hash by trying."""
    def __init__(self, number):
        self.number = number
    def __hash__(self):
        return self.number
    def __eq__(self, *args):
        seen.append(("__eq__", args))
        return False

def twice(n: int = 1) -> int:
    return n * 2

def type_of(thing):
    return type(thing)

class Plain:
    x: int = 1
    def method(self, *args):
        return 1

class Context:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        self.trace = trace
        return True

context = Context()
with context:
    raise ValueError("a")

async def wait():
    yield 1

class Items:
    def __getitem__(self, n):
        return [1, 2][n]

generator, waiting = (n for n in [1, 2]), wait()
iterators = [iter("\u00e9"), iter(Items()), iter(twice, 1)]
first, second, third = iterators

class Quiet:
    def __init_subclass__(cls, **kwargs):
        pass

spy, spying_text, spying_dict = Spy(), SpyingText("zq"), SpyingDict(a=1)
elements = [Element(number) for number in addresses]
marks = ["x, zqmark()", "x=zqmark()", "x: zqmark()", "zqmark()", "{0.__class__}", "x\\nzqmark()\\n"]
'''

# Honest classes and objects of a module, for those that have it.
MADE_OF = {
    "enum": "class Colour(enum.Enum):\n    RED = 1\n    BLUE = 2\nclass Bits(enum.IntFlag):\n    A = 1\n    B = 2\n",
    "dataclasses": "@dataclasses.dataclass\nclass Point:\n    x: int = 1\n    y: int = dataclasses.field(default=2)\n",
    "typing": "T = typing.TypeVar('T')\nclass Box(typing.Generic[T]):\n    pass\nclass Named(typing.NamedTuple):\n    a: int = 1\n"
              "class Shape(typing.Protocol):\n    def area(self): ...\nclass Table(typing.TypedDict):\n    a: int\n"
              "reference = typing.get_args(typing.List['a'])[0]\n",
    "collections": "Pair = collections.namedtuple('Pair', 'a b')\nclass Own(collections.abc.Sequence):\n    def __len__(self):\n        return 1\n"
                   "    def __getitem__(self, i):\n        return [1][i]\n",
    "functools": "@functools.lru_cache\ndef cached(n=1):\n    return n\n@functools.singledispatch\ndef general(n=1):\n    return n\n",
    "abc": "class Abstract(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\n",
    "contextlib": "@contextlib.contextmanager\ndef managed(n=1):\n    yield n\n",
}
