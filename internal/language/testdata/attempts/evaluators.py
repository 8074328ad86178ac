#: evaluate-type-hints-class
#: get_type_hints evaluates the string annotations of a class.
import typing
class A:
    x: "print.__self__.open"
escaped = "open" in str(typing.get_type_hints(A)["x"])

#: evaluate-type-hints-globals
#: get_type_hints evaluates in given variables and adds the real built-in names to them.
import typing
class A:
    x: "__import__('os').getcwd"
escaped = typing.get_type_hints(A, {}, {})["x"]()[:1] == "/"

#: evaluate-type-hints-function
#: get_type_hints evaluates the string annotations of a function.
import typing
def f(x: "().__class__.__base__"):
    pass
escaped = typing.get_type_hints(f)["x"] is object

#: evaluate-type-hints-future
#: With the future statement every annotation is a string, and none was an expression for a checker.
from __future__ import annotations
import typing
class A:
    x: print.__self__.open
escaped = "open" in str(typing.get_type_hints(A)["x"])

#: evaluate-type-hints-side-effect
#: The evaluated string has a side effect and returns a harmless type.
import typing
box = []
def f(x: "(box.append(print.__self__), int)[1]"):
    pass
typing.get_type_hints(f)
escaped = "<module 'builtins'" in str(box[0])

#: evaluate-type-hints-object
#: get_type_hints of an object without global variables evaluates with the real built-in names.
import typing
class A:
    x: "__import__('os').getcwd"
escaped = typing.get_type_hints(A())["x"]()[:1] == "/"

#: evaluate-type-hints-nested-forward
#: The string sits inside of a generic alias.
import typing
class A:
    x: typing.List["print.__self__.open"]
escaped = "built-in" in str(typing.get_args(typing.get_type_hints(A)["x"])[0])

#: evaluate-type-hints-named-tuple
#: A named tuple carries the string.
import typing
P = typing.NamedTuple("P", [("x", "print.__self__.open")])
escaped = "built-in" in str(typing.get_type_hints(P, {}, {})["x"])

#: evaluate-type-hints-typed-dict
#: A typed dict carries the string.
import typing
P = typing.TypedDict("P", {"x": "__import__('os').getcwd"})
escaped = typing.get_type_hints(P, {}, {})["x"]()[:1] == "/"

#: evaluate-type-hints-make-dataclass-module
#: make_dataclass moves a class into another module, where its strings are evaluated.
#: since 3.12
import dataclasses, typing
A = dataclasses.make_dataclass("A", [("x", "getcwd")], module="os")
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: evaluate-type-hints-namespace-module
#: make_dataclass moves a class into another module by its namespace.
#: until 3.11
import dataclasses, typing
A = dataclasses.make_dataclass("A", [("x", "getcwd")], namespace={"__module__": "os"})
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: evaluate-type-hints-enum-module
#: The functional form of an enum moves a class into another module.
import enum, typing
class Base(enum.Enum):
    pass
E = Base("E", "A", module="os")
E.__annotations__ = {"x": "getcwd"}
escaped = typing.get_type_hints(E)["x"]()[:1] == "/"

#: evaluate-type-hints-name-binding
#: The name of the script decides in which module its annotations are evaluated.
import typing
__name__ = "os"
class A:
    x: "getcwd"
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: evaluate-type-hints-wrapped
#: get_type_hints follows __wrapped__ to the variables of a library function.
import functools, random, typing
def f(x: "_os.getcwd"):
    pass
f.__wrapped__ = random.Random.choice
escaped = typing.get_type_hints(f)["x"]()[:1] == "/"

#: evaluate-type-hints-wraps-library
#: functools.wraps lets an own function be evaluated in the variables of a library function.
import functools, random, typing
@functools.wraps(random.Random.choice, assigned=())
def f(x: "_os.getcwd"):
    pass
escaped = typing.get_type_hints(f)["x"]()[:1] == "/"

#: evaluate-type-hints-by-partial
#: get_type_hints is a value that map calls.
import typing
class A:
    x: "print.__self__.open"
escaped = "built-in" in str(list(map(typing.get_type_hints, [A]))[0]["x"])

#: evaluate-forward-ref-from-args
#: get_args gives a forward reference, whose private method evaluates it with the real built-in names.
#: until 3.12
import typing
ref = typing.get_args(typing.List["__import__('os').getcwd"])[0]
escaped = ref._evaluate({}, {}, frozenset())()[:1] == "/"

#: evaluate-forward-ref-from-args-keyword
#: The same with the keyword arguments of newer versions.
#: since 3.13
import typing
ref = typing.get_args(typing.List["__import__('os').getcwd"])[0]
escaped = ref._evaluate({}, {}, (), recursive_guard=frozenset())()[:1] == "/"

#: evaluate-forward-ref-class
#: A forward reference is made directly and put into an annotation.
import typing
class A:
    x: typing.ForwardRef("__import__('os').getcwd")
escaped = typing.get_type_hints(A, {}, {})["x"]()[:1] == "/"

#: evaluate-forward-ref-code
#: A forward reference carries a code object.
import typing
ref = typing.get_args(typing.List["6 * 7"])[0]
escaped = type(ref.__forward_code__).__name__ == "code"

#: evaluate-forward-ref-code-by-type
#: The code object of a forward reference becomes a function.
import operator, typing
ref = typing.get_args(typing.List["6 * 7"])[0]
code = operator.attrgetter("__forward_code__")(ref)
escaped = type(lambda: 0)(code, {})() == 42

#: evaluate-type-var-bound
#: The bound of a type variable is a forward reference.
import typing
T = typing.TypeVar("T", bound="6 * 7")
escaped = type(T.__bound__.__forward_code__).__name__ == "code"

#: evaluate-singledispatch-register
#: Registering an annotated function evaluates its string annotation.
import functools
box = []
@functools.singledispatch
def f(x):
    pass
@f.register
def g(x: "(box.append(print.__self__), int)[1]"):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: evaluate-singledispatch-future
#: With the future statement the registered annotation was no expression for a checker.
from __future__ import annotations
import functools
box = []
@functools.singledispatch
def f(x):
    pass
@f.register
def g(x: (box.append(print.__self__), int)[1]):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: evaluate-singledispatch-object
#: Registering an annotated object evaluates with the real built-in names, the registry hands out the result.
import functools
@functools.singledispatch
def f(x):
    pass
class Handler:
    x: "__import__('os')._wrap_close"
    def __call__(self, x):
        pass
f.register(Handler())
escaped = any("os._wrap_close" in str(c) for c in f.registry)

#: evaluate-singledispatch-object-computed
#: The same, and the evaluated class carries the result of any code.
import functools
@functools.singledispatch
def f(x):
    pass
class Handler:
    x: "__build_class__(lambda: None, __import__('os').getcwd())"
    def __call__(self, x):
        pass
f.register(Handler())
escaped = any(c.__name__[:1] == "/" for c in f.registry)

#: evaluate-singledispatchmethod-register
#: The method form registers through a dispatcher.
import functools
class A:
    @functools.singledispatchmethod
    def f(self, x):
        pass
class Handler:
    x: "__import__('os')._wrap_close"
    def __call__(self, x):
        pass
m = functools.singledispatchmethod(lambda self, x: 0)
m.register(Handler())
escaped = any("os._wrap_close" in str(c) for c in m.dispatcher.registry)

#: evaluate-dataclass-field-name
#: The generated __repr__ of a dataclass contains the name of a field, which was changed to code.
import dataclasses
@dataclasses.dataclass
class A:
    x: int = 0
dataclasses.fields(A)[0].name = "x or len.__self__"
@dataclasses.dataclass(init=False, eq=False)
class B(A):
    pass
escaped = "module 'builtins'" in str(B())

#: evaluate-dataclass-annotations
#: A name in the annotations of a class body is code when the dataclass is generated.
import dataclasses
@dataclasses.dataclass(init=False, eq=False)
class A:
    real: int
    __annotations__["real or len.__self__"] = int
A.real = 0
escaped = "module 'builtins'" in str(A())

#: evaluate-dataclass-str-subclass
#: make_dataclass believes a name whose class says that it is an identifier.
import dataclasses
class Name(str):
    def isidentifier(self):
        return True
A = dataclasses.make_dataclass("A", [Name("real or len.__self__")], init=False, eq=False, namespace={"real": 0})
escaped = "module 'builtins'" in str(A())

#: evaluate-dataclass-base-fields
#: A base that only says it is a dataclass brings fields of any name.
import dataclasses
@dataclasses.dataclass
class A:
    x: int = 0
field = dataclasses.fields(A)[0]
field.name = "x or len.__self__"
class Base:
    x = 0
    __dataclass_fields__ = {"x": field}
    __dataclass_params__ = dataclasses.dataclass(A).__dataclass_params__
@dataclasses.dataclass(init=False, eq=False)
class B(Base):
    pass
escaped = "module 'builtins'" in str(B())

#: evaluate-type-hints-named-tuple-module
#: A named tuple is moved into another module, where its strings are evaluated.
import collections, typing
P = collections.namedtuple("P", "x", module="os")
P.__annotations__ = {"x": "getcwd"}
escaped = typing.get_type_hints(P)["x"]()[:1] == "/"

#: evaluate-type-alias
#: The value of a type alias is evaluated late.
#: since 3.12
type X = print.__self__
escaped = "<module 'builtins'" in str(X.__value__)

#: evaluate-type-alias-by-helper
#: The late value of a type alias is read by a helper.
#: since 3.12
import operator
type X = print.__self__
escaped = "<module 'builtins'" in str(operator.attrgetter("__value__")(X))

#: evaluate-type-parameter-bound
#: The bound of a type parameter is evaluated late.
#: since 3.12
def f[T: print.__self__]():
    return T
escaped = "<module 'builtins'" in str(f().__bound__)

#: evaluate-type-parameter-constraints
#: The constraints of a type parameter of a class are evaluated late.
#: since 3.12
class A[T: (print.__self__, int)]:
    t = T
escaped = "<module 'builtins'" in str(A.t.__constraints__[0])

#: evaluate-type-parameter-default
#: The default of a type parameter is evaluated late.
#: since 3.13
def f[T = print.__self__]():
    return T
escaped = "<module 'builtins'" in str(f().__default__)

#: evaluate-annotation-at-once
#: An annotation at the top level is an expression that runs.
box = []
x: box.append(print.__self__) = 1
escaped = "<module 'builtins'" in str(box[0])

#: evaluate-annotations-dict
#: The evaluated annotation is read from the annotations of the module.
x: print.__self__ = 1
escaped = "<module 'builtins'" in str(__annotations__["x"])

#: evaluate-dataclass-field-name-init
#: The generated __init__ contains the name of a field, code in it runs when the class is made.
import dataclasses
@dataclasses.dataclass
class A:
    x: int = dataclasses.field(init=False)
dataclasses.fields(A)[0].name = "x:({}[__import__('os').getcwd()])or x"
try:
    @dataclasses.dataclass(repr=False, eq=False)
    class B(A):
        pass
except KeyError as e:
    escaped = e.args[0][:1] == "/"

#: evaluate-dataclass-field-name-eq
#: The generated comparison contains the name of a field.
import dataclasses
@dataclasses.dataclass
class A:
    x: int = 0
dataclasses.fields(A)[0].name = "x or {}[__import__('os').getcwd()]"
@dataclasses.dataclass(init=False, repr=False)
class B(A):
    pass
try:
    B() == B()
except KeyError as e:
    escaped = e.args[0][:1] == "/"

#: evaluate-dataclass-field-name-hash
#: The generated hash contains the name of a field.
import dataclasses
@dataclasses.dataclass
class A:
    x: int = 0
dataclasses.fields(A)[0].name = "x or {}[__import__('os').getcwd()]"
@dataclasses.dataclass(init=False, repr=False, unsafe_hash=True, eq=False)
class B(A):
    pass
try:
    hash(B())
except KeyError as e:
    escaped = e.args[0][:1] == "/"

#: evaluate-dataclass-str-subclass-fields
#: The names of make_dataclass are pairs with a lying name, and the class is frozen.
import dataclasses
class Name(str):
    def isidentifier(self):
        return True
A = dataclasses.make_dataclass("A", [(Name("real or {}[__import__('os').getcwd()]"), int)], init=False, repr=False, namespace={"real": 0})
try:
    A() == A()
except KeyError as e:
    escaped = e.args[0][:1] == "/"

#: evaluate-dataclass-str-subclass-format
#: A field has the name of a harmless identifier that formats itself as code.
import dataclasses
class Name(str):
    def __format__(self, spec):
        return "real or len.__self__"
A = dataclasses.make_dataclass("A", [Name("harmless")], init=False, eq=False, namespace={"real": 0})
escaped = "module 'builtins'" in str(A())

#: evaluate-dataclass-module
#: The code of a dataclass is generated in the variables of the module its class says it is from.
import dataclasses, random
@dataclasses.dataclass
class A:
    x: int = 0
dataclasses.fields(A)[0].name = "x or _os"
@dataclasses.dataclass(init=False, eq=False)
class B(A):
    __module__ = "random"
escaped = "module 'os'" in str(B())

#: evaluate-dataclass-renamed-annotation
#: Annotations of a class are changed by a decorator below the dataclass decorator.
import dataclasses
def plant(cls):
    cls.__annotations__["real or len.__self__"] = int
    return cls
@dataclasses.dataclass(init=False, eq=False)
@plant
class A:
    real = 0
    x: int = 0
escaped = "module 'builtins'" in str(A())

#: evaluate-private-eval-type
#: A private function of typing evaluates a forward reference.
import typing
escaped = typing._eval_type(typing.ForwardRef("__import__('os').getcwd"), {}, {})()[:1] == "/"

#: evaluate-private-create-function
#: A private function of dataclasses compiles a function from text.
#: until 3.12
import dataclasses
escaped = dataclasses._create_fn("go", [], ["return __import__('os')"])().getcwd()[:1] == "/"
