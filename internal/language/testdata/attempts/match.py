#: match-keyword-self
#: A class pattern reads the module of a built-in function.
#: since 3.10
match print:
    case object(__self__=found):
        escaped = "<module 'builtins'" in str(found)

#: match-keyword-globals
#: A class pattern reads the global variables of a function.
#: since 3.10
def f():
    pass
match f:
    case object(__globals__=found):
        escaped = found["f"] is f

#: match-keyword-class-chain
#: Nested class patterns walk from a literal to every class.
#: since 3.10
match ():
    case object(__class__=object(__base__=object(__subclasses__=walk))):
        escaped = len(walk()) > 50

#: match-keyword-frame
#: A class pattern reads the frame of a generator.
#: since 3.10
match (i for i in "a"):
    case object(gi_frame=found):
        escaped = type(found).__name__ == "frame"

#: match-keyword-frame-chain
#: Nested class patterns walk from a generator to the global variables.
#: since 3.10
gen = (i for i in "a")
match gen:
    case object(gi_frame=object(f_globals={"gen": found})):
        escaped = found is gen

#: match-keyword-coroutine
#: A class pattern reads the frame of a coroutine.
#: since 3.10
async def f():
    pass
c = f()
match c:
    case object(cr_frame=found):
        escaped = type(found).__name__ == "frame"
c.close()

#: match-keyword-format
#: A class pattern reads the format method past any rewriting.
#: since 3.10
match "{0.__class__}":
    case str(format=walk):
        escaped = walk(1) == "<class 'int'>"

#: match-keyword-format-map-alternative
#: The same in an alternative of patterns.
#: since 3.10
match "{a.__class__}":
    case bytes(decode=walk) | str(format_map=walk):
        escaped = walk({"a": 1}) == "<class 'int'>"

#: match-keyword-unbound-format
#: A class pattern on the class itself reads the unbound method.
#: since 3.10
match str:
    case object(format=walk):
        escaped = walk("{0.__class__}", 1) == "<class 'int'>"

#: match-module-private
#: A class pattern reads a private module of an allowed one.
#: since 3.10
import random
match random:
    case object(_os=found):
        escaped = "module 'os'" in str(found)

#: match-module-reexport
#: A class pattern reads a re-exported module without an underscore.
#: since 3.10
import re
match re:
    case object(enum=object(sys=found)):
        escaped = "module 'sys'" in str(found)

#: match-formatter-method
#: A class pattern reads the method of a formatter that returns live objects.
#: since 3.10
import string
match string.Formatter():
    case object(get_field=get):
        escaped = "<module 'builtins'" in str(get("0.__self__", (print,), {})[0])

#: match-args-dunder
#: A positional pattern reads what __match_args__ names.
#: since 3.10
class A:
    __match_args__ = ("__class__",)
match A():
    case A(found):
        escaped = found is A

#: match-args-built-at-run-time
#: __match_args__ is put together at run time.
#: since 3.10
class A:
    __match_args__ = tuple(["_" * 2 + "dict" + "_" * 2])
a = A()
a.flag = 42
match a:
    case A(found):
        escaped = found == {"flag": 42}

#: match-args-registered-function
#: An abstract class takes in functions and its positional pattern reads their global variables.
#: since 3.10
import collections.abc
def f():
    pass
class Fun(collections.abc.Sized):
    __match_args__ = ("__globals__",)
Fun.register(type(f))
match f:
    case Fun(found):
        escaped = found["f"] is f

#: match-args-of-namedtuple
#: A named tuple defines the positional pattern out of a string, a registered class reads frames.
#: since 3.10
import collections, collections.abc
P = collections.namedtuple("P", "gi_" + "frame")
class Gen(P, collections.abc.Sized):
    pass
gen = (i for i in "a")
Gen.register(type(gen))
match gen:
    case Gen(found):
        escaped = type(found).__name__ == "frame"

#: match-args-of-namedtuple-error
#: A named tuple defines the positional pattern that reads the object out of an error.
#: since 3.10
import collections, collections.abc, random
class Err(collections.namedtuple("P", "obj"), collections.abc.Sized):
    pass
Err.register(AttributeError)
try:
    random._os.nothing_here
except AttributeError as e:
    match e:
        case Err(found):
            escaped = "module 'os'" in str(found)

#: match-args-of-dataclass
#: A dataclass defines the positional pattern by an annotation.
#: since 3.10
import collections.abc, dataclasses
@dataclasses.dataclass
class Gen(collections.abc.Sized):
    gi_code: object
    def __len__(self):
        return 0
gen = (i for i in "a")
Gen.register(type(gen))
match gen:
    case Gen(found):
        escaped = type(found).__name__ == "code"

#: match-args-of-make-dataclass
#: make_dataclass defines the positional pattern by a string.
#: since 3.10
import collections.abc, dataclasses
Fun = dataclasses.make_dataclass("Fun", ["__code__"], bases=(collections.abc.Sized,))
def f():
    pass
Fun.register(type(f))
match f:
    case Fun(found):
        escaped = type(found).__name__ == "code"

#: match-args-of-typing-namedtuple
#: typing.NamedTuple defines the positional pattern, a str subclass inherits format.
#: since 3.10
import collections.abc, typing
P = typing.NamedTuple("P", [("format", object)])
class Text(P, collections.abc.Sized):
    pass
Text.register(str)
match "{0.__class__}":
    case Text(walk):
        escaped = walk(1) == "<class 'int'>"

#: match-args-dataclass-str
#: A dataclass that is a str has a field named like the format method.
#: since 3.10
import dataclasses
@dataclasses.dataclass(init=False)
class Text(str):
    """A text."""
    format: object
match Text("{0.__class__}"):
    case Text(walk):
        escaped = walk(1) == "<class 'int'>"

#: match-args-protocol
#: A runtime protocol takes in functions by their shape and its positional pattern reads their code.
#: since 3.12
import typing
@typing.runtime_checkable
class Fun(typing.Protocol):
    def __call__(self): ...
Fun.__match_args__ = ("__code__",)
def f():
    pass
match f:
    case Fun(found):
        escaped = type(found).__name__ == "code"

#: match-capture-builtins
#: A capture pattern binds the name of the built-in names.
#: since 3.10
match {"ord": lambda c: 42}:
    case __builtins__:
        pass
def probe():
    return ord("a")
escaped = probe() == 42

#: match-as-builtins
#: An as pattern binds the name of the built-in names.
#: since 3.10
match {"ord": lambda c: 42}:
    case {"ord": _} as __builtins__:
        pass
def probe():
    return ord("a")
escaped = probe() == 42

#: match-mapping-rest-builtins
#: The rest of a mapping pattern binds the name of the built-in names.
#: since 3.10
match {"x": 1, "ord": lambda c: 42}:
    case {"x": 1, **__builtins__}:
        pass
def probe():
    return ord("a")
escaped = probe() == 42

#: match-star-builtins
#: The star of a sequence pattern binds the name of the built-in names.
#: since 3.10
match [1, 2]:
    case [1, *__builtins__]:
        pass
def probe():
    return ord("a")
try:
    probe()
except TypeError as e:
    escaped = "list indices" in str(e)

#: match-value-pattern
#: A value pattern is an attribute chain that is evaluated and handed to __eq__.
#: since 3.10
box = []
class Catch:
    def __eq__(self, other):
        box.append(other)
        return True
match Catch():
    case print.__self__:
        escaped = "<module 'builtins'" in str(box[0])

#: match-mapping-key
#: The key of a mapping pattern is an attribute chain that is evaluated.
#: since 3.10
box = []
class Catch(dict):
    def get(self, key, default=None):
        box.append(key)
        return 1
match Catch(a=1):
    case {print.__self__: found}:
        escaped = "<module 'builtins'" in str(box[0])

#: match-guard
#: The guard of a case reads what is forbidden.
#: since 3.10
match 1:
    case 1 if (found := print.__self__):
        escaped = "<module 'builtins'" in str(found)

#: match-subject
#: The subject of a match reads what is forbidden.
#: since 3.10
match print.__self__:
    case found:
        escaped = "<module 'builtins'" in str(found)

#: match-class-pattern-is-a-chain
#: The class of a class pattern is itself an attribute chain out of the sandbox.
#: since 3.10
import random
match "x":
    case random._os.PathLike():
        pass
    case _:
        escaped = True

#: match-error-object
#: A class pattern reads the object out of an error.
#: since 3.10
import random
try:
    random._os.nothing_here
except Exception as e:
    match e:
        case AttributeError(obj=found):
            escaped = "module 'os'" in str(found)

#: match-traceback
#: A class pattern reads the traceback and its frame.
#: since 3.10
try:
    1 / 0
except ZeroDivisionError as e:
    match e:
        case Exception(__traceback__=object(tb_frame=found)):
            escaped = type(found).__name__ == "frame"

#: match-keyword-mro
#: A class pattern on a metaclass reads its base class.
#: since 3.10
class A(int):
    pass
match A:
    case type(__base__=found):
        escaped = found is int
