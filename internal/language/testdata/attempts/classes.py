#: type-three-arguments
#: type makes a class out of a name, bases and a namespace.
X = type("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-of-class
#: type of a class is type again and makes a class.
X = type(int)("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-of-type-of-object
#: type of the type of any object.
X = type(type(1))("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-alias
#: type is called under another name.
t = type
escaped = t("X", (), {"flag": 42}).flag == 42

#: type-star-arguments
#: The three arguments come out of a tuple.
args = ("X", (), {"flag": 42})
escaped = type(*args).flag == 42

#: type-keyword-arguments
#: The three arguments are hidden by an empty mapping.
more = {}
escaped = type("X", (), {"flag": 42}, **more).flag == 42

#: type-by-map
#: map calls type with three arguments.
X = list(map(type, ["X"], [()], [{"flag": 42}]))[0]
escaped = X.flag == 42

#: type-by-starmap
#: itertools.starmap calls type with three arguments.
import itertools
X = next(itertools.starmap(type, [("X", (), {"flag": 42})]))
escaped = X.flag == 42

#: type-by-partial
#: functools.partial collects the arguments of type.
import functools
X = functools.partial(type, "X", ())({"flag": 42})
escaped = X.flag == 42

#: type-by-partial-chain
#: functools.reduce builds the call from single arguments.
import functools
call = functools.reduce(functools.partial, ["X", (), {"flag": 42}], type)
escaped = call().flag == 42

#: type-by-operator-call
#: operator.call calls type with three arguments.
#: since 3.11
import operator
X = operator.call(type, "X", (), {"flag": 42})
escaped = X.flag == 42

#: type-by-power
#: The three argument pow calls a partial type that sits in __pow__.
import functools
class A:
    __pow__ = functools.partial(type, "X")
escaped = pow(A(), (), {"flag": 42}).flag == 42

#: type-by-setitem-protocol
#: An item assignment calls a partial type, the new class is caught by __set_name__.
import functools
box = []
class Catch:
    def __set_name__(self, owner, name):
        box.append(owner)
class A:
    __setitem__ = functools.partial(type, "X")
A()[()] = {"catch": Catch(), "flag": 42}
escaped = box[0].flag == 42

#: type-by-copy
#: copy.copy calls what __reduce__ names.
import copy
class A:
    def __reduce__(self):
        return type, ("X", (), {"flag": 42})
escaped = copy.copy(A()).flag == 42

#: type-by-deepcopy
#: copy.deepcopy calls what __reduce_ex__ names.
import copy
class A:
    def __reduce_ex__(self, protocol):
        return type, ("X", (), {"flag": 42})
escaped = copy.deepcopy(A()).flag == 42

#: type-by-generic-alias
#: A generic alias of type is called.
X = type[int]("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-by-annotated
#: typing.Annotated of type is called.
import typing
X = typing.Annotated[type, 0]("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-by-get-origin
#: typing.get_origin gives the real type.
import typing
X = typing.get_origin(typing.Type[int])("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-by-get-args
#: typing.get_args gives the real type back out of an alias.
import typing
X = typing.get_args(typing.List[type(int)])[0]("X", (), {"flag": 42})
escaped = X.flag == 42

#: type-by-class-attribute
#: type is a class attribute and called through an object.
class A:
    make = type
escaped = A().make("X", (), {"flag": 42}).flag == 42

#: type-by-default-argument
#: type is the default of a parameter.
def make(*args, f=type):
    return f(*args)
escaped = make("X", (), {"flag": 42}).flag == 42

#: type-by-lambda
#: type is passed through a lambda.
escaped = (lambda f, *a: f(*a))(type, "X", (), {"flag": 42}).flag == 42

#: type-by-decorator
#: type with two bound arguments is a decorator.
import functools
@functools.partial(type, "X", ())
@lambda f: {"flag": 42}
def X():
    pass
escaped = X.flag == 42

#: type-by-json-class
#: The JSON encoder class is a function that calls type.
import functools
import json
class Enc:
    def __init__(self, **kwargs):
        pass
    encode = staticmethod(functools.partial(type, "X", ()))
X = json.dumps({"flag": 42}, cls=Enc)
escaped = X.flag == 42

#: type-by-object-hook
#: The JSON decoder calls a partial type for each object.
import functools
import json
X = json.loads('{"flag": 42}', object_hook=functools.partial(type, "X", ()))
escaped = X.flag == 42

#: type-by-reduce-initial
#: functools.reduce calls a partial type with accumulator and item.
import functools
X = functools.reduce(functools.partial(type, "X"), [{"flag": 42}], ())
escaped = X.flag == 42

#: metaclass-own
#: A class derived from type is a metaclass.
class M(type):
    pass
class X(metaclass=M):
    pass
escaped = type(X) is M

#: metaclass-from-type-of-class
#: A metaclass is derived from the type of a class.
class M(type(int)):
    def __getitem__(cls, key):
        return key
class X(metaclass=M):
    pass
escaped = X[42] == 42

#: metaclass-function
#: A function is the metaclass and gets the namespace of the body.
def make(name, bases, namespace):
    return namespace
class X(metaclass=make):
    flag = 42
escaped = X["flag"] == 42

#: metaclass-lambda-by-mapping
#: The metaclass comes out of a mapping.
class X(**{"metaclass": lambda name, bases, namespace: namespace}):
    flag = 42
escaped = X["flag"] == 42

#: metaclass-lambda
#: A lambda is the metaclass.
class X(metaclass=lambda *args: args):
    pass
escaped = X[0] == "X"

#: metaclass-prepare
#: The namespace of the body is an own mapping that answers to every name.
class Names(dict):
    def __missing__(self, key):
        return 42
class M(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Names(__name__="x")
class X(metaclass=M):
    flag = name_that_nobody_defined
escaped = X.flag == 42

#: metaclass-prepare-on-instance
#: An object with __prepare__ is the metaclass.
class Fake:
    def __prepare__(self, name, bases):
        return {"planted": 42}
    def __call__(self, name, bases, namespace):
        return namespace
class X(metaclass=Fake()):
    seen = planted
escaped = X["seen"] == 42

#: metaclass-by-mro-entries
#: An object stands for type in the list of bases.
class Stand:
    def __mro_entries__(self, bases):
        return (type(int),)
class M(Stand()):
    pass
escaped = M("X", (), {"flag": 42}).flag == 42

#: metaclass-star-bases
#: The bases come out of a tuple.
bases = (type(int),)
class M(*bases):
    pass
escaped = M("X", (), {"flag": 42}).flag == 42

#: metaclass-abc
#: The metaclass of an abstract class is called.
import collections.abc
X = type(collections.abc.Sized)("X", (), {"flag": 42})
escaped = X.flag == 42

#: metaclass-enum
#: The public metaclass of enums is derived from and used.
import enum
class M(enum.EnumMeta):
    def __call__(cls, *args):
        return 42
class E(enum.Enum, metaclass=M):
    A = 1
escaped = E("anything") == 42

#: metaclass-enum-call
#: The public metaclass of enums is called with three arguments.
import enum
space = enum.EnumMeta.__prepare__("X", (enum.Enum,))
space["A"] = 42
X = enum.EnumMeta("X", (enum.Enum,), space)
escaped = X.A.value == 42

#: metaclass-typing-abcmeta
#: typing exposes the metaclass of abstract classes without listing it.
import typing
X = typing.ABCMeta("X", (), {"flag": 42})
escaped = X.flag == 42

#: metaclass-of-protocol
#: The type of a protocol is called.
import typing
X = type(typing.Protocol)("X", (), {"flag": 42})
escaped = X.flag == 42

#: metaclass-conflict-decorator
#: A decorator rebuilds a class by the type of its type.
def again(cls):
    return type(cls)(cls.__name__, (cls,), {"flag": 42})
@again
class X:
    pass
escaped = X.flag == 42

#: class-module-type
#: The type of modules makes a module.
import math
escaped = "module 'planted'" in str(type(math)("planted"))

#: class-module-subclass
#: A class is derived from the type of modules.
import math
class M(type(math)):
    pass
escaped = "module 'planted'" in str(M("planted"))

#: class-function-type
#: The type of functions is called with a code object out of a pattern of helpers.
import operator
def f():
    return 42
F = type(f)
escaped = F(operator.attrgetter("__code__")(f), {})() == 42

#: class-method-type
#: The type of methods binds a library function to anything.
class A:
    def f(self):
        return self
M = type(A().f)
escaped = M(lambda self: self, 42)() == 42 and M(type, "X")((), {"flag": 7}).flag == 7

#: class-make-dataclass-namespace
#: make_dataclass puts dunders by string into a class.
import dataclasses
X = dataclasses.make_dataclass("X", [], namespace={"__getattr__": lambda self, name: name, "__class__": property(lambda self: str)})
escaped = isinstance(X(), str)

#: class-make-dataclass-bases
#: make_dataclass makes a metaclass without a class statement.
import dataclasses
M = dataclasses.make_dataclass("M", [], bases=(type(int),), init=False, repr=False, eq=False, namespace={"__doc__": "x"})
escaped = M("X", (), {"flag": 42}).flag == 42

#: class-super-type-new
#: super walks past the checks of a library metaclass to the three argument type.
import enum
meta = type(enum.Enum)
X = super(meta, meta).__new__(meta, "X", (), {"flag": 42})
escaped = X.flag == 42
