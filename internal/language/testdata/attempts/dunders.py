#: dunder-class
#: The class of an object is read and called.
escaped = (1).__class__("7") == 7

#: dunder-subclasses-walk
#: The classic walk from a literal to every class there is.
found = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "_wrap_close"]
escaped = len(found) == 1

#: dunder-subclasses-of-object
#: Only one attribute of the walk is left.
escaped = len(object.__subclasses__()) > 50

#: dunder-globals
#: A function gives its global variables.
def f():
    pass
escaped = f.__globals__["f"] is f

#: dunder-globals-of-library
#: A library function gives the global variables of its module.
import textwrap
escaped = "module 're'" in str(textwrap.dedent.__globals__["re"])

#: dunder-globals-of-method
#: A method of a library class gives the global variables of its module.
import random
escaped = "module 'os'" in str(random.Random.choice.__globals__["_os"])

#: dunder-func
#: A bound method gives its function.
import random
escaped = "function" in str(random.choice.__func__)

#: dunder-self
#: A method of the shared generator gives the generator.
import random
escaped = "Random object" in str(random.choice.__self__)

#: dunder-dict-class
#: The namespace of a class is read.
import string
escaped = "substitute" in string.Template.__dict__

#: dunder-dict-module
#: The namespace of a module is read.
import random
escaped = "_os" in random.__dict__

#: dunder-dict-instance-write
#: The namespace of an object is written past its properties.
class A:
    @property
    def pin(self):
        return 1
a = A()
a.__dict__["planted"] = 42
escaped = a.planted == 42

#: dunder-bases
#: The bases of a class are read.
class A(int):
    pass
escaped = A.__bases__ == (int,)

#: dunder-bases-write
#: The bases of a class are replaced.
class A:
    pass
class B:
    pass
class C(A):
    pass
C.__bases__ = (B,)
escaped = issubclass(C, B)

#: dunder-mro
#: The method resolution order is read.
escaped = bool.__mro__[1] is int

#: dunder-class-write
#: An object changes its class.
class A:
    pass
class B:
    flag = 42
a = A()
a.__class__ = B
escaped = a.flag == 42

#: dunder-code
#: A function gives its code object.
def f():
    pass
escaped = type(f.__code__).__name__ == "code"

#: dunder-defaults-write
#: The defaults of a library function are replaced.
import json
json.dumps.__kwdefaults__["indent"] = 2
escaped = "\n" in json.dumps([1])

#: dunder-wrapped
#: A decorated function gives what is below the decorator.
import functools
@functools.lru_cache
def f():
    return 42
escaped = "function f" in str(f.__wrapped__)

#: dunder-module-write
#: A class is moved into another module, where its annotations are evaluated.
import typing
class A:
    x: "getcwd"
A.__module__ = "os"
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: dunder-module-in-class-body
#: The same, inside of the class body.
import typing
class A:
    __module__ = "os"
    x: "getcwd"
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: dunder-getattribute-object
#: The attribute function of object reads a dunder by string.
escaped = "<module 'builtins'" in str(object.__getattribute__(print, "__self__"))

#: dunder-getattribute-type
#: The attribute function of type reads a dunder by string.
escaped = "format" in type.__getattribute__(str, "__dict__")

#: dunder-getattribute-super
#: super hands out the attribute function bound to a foreign object.
def f():
    pass
escaped = super(type(f), f).__getattribute__("__globals__")["f"] is f

#: dunder-getattribute-own-class
#: An own class overrides attribute access and reads dunders of itself by string.
class A:
    def read(self, name):
        return super().__getattribute__(name)
escaped = A().read("__class__") is A

#: dunder-getattribute-alias
#: The attribute function becomes an innocent name in a class body.
class A:
    look = object.__getattribute__
escaped = A().look("_" + "_dict_" + "_") == {}

#: dunder-setattr-object
#: The attribute function of object writes a dunder of a library function by string.
import json
object.__setattr__(json.dumps, "__kwdefaults__", {"indent": 2})
escaped = "\n" in json.dumps([1], skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, separators=None, default=None, sort_keys=False)

#: dunder-setattr-frozen
#: The attribute function of object changes a shared constant that is read-only.
import uuid
object.__setattr__(uuid.NAMESPACE_DNS, "int", 5)
escaped = uuid.NAMESPACE_DNS.int == 5

#: dunder-setattr-super
#: super hands out the attribute function bound to a shared constant.
import uuid
super(uuid.UUID, uuid.NAMESPACE_URL).__setattr__("int", 5)
escaped = uuid.NAMESPACE_URL.int == 5

#: dunder-setattr-type
#: The attribute function of type changes a library class.
import json
type.__setattr__(json.JSONEncoder, "item_separator", ";")
escaped = json.JSONEncoder().encode([1, 2]) == "[1;2]"

#: dunder-delattr-type
#: The attribute function of type removes a method from a library class.
import textwrap
type.__delattr__(textwrap.TextWrapper, "fill")
escaped = not hasattr(textwrap.TextWrapper, "fill")

#: dunder-init-again
#: The harmless looking __init__ is called on a shared object.
import decimal
decimal.DefaultContext.__init__(prec=3)
escaped = decimal.DefaultContext.prec == 3

#: dunder-init-again-set
#: The harmless looking __init__ empties a shared set.
import hashlib
hashlib.algorithms_available.__init__([])
escaped = len(hashlib.algorithms_available) == 0

#: dunder-call-type
#: type is called by its __call__ with three arguments.
X = type.__call__(type, "X", (), {"flag": 42})
escaped = X.flag == 42

#: dunder-new-type
#: type is called by its __new__ with three arguments.
X = type.__new__(type, "X", (), {"flag": 42})
escaped = X.flag == 42

#: dunder-reduce
#: The pickle protocol gives a library function that rebuilds objects.
class A:
    pass
make = A().__reduce_ex__(2)[0]
escaped = make.__globals__["dispatch_table"] is not None

#: dunder-descriptor-get
#: The descriptor of the global variables is called by its __get__.
def f():
    pass
escaped = type(f).__globals__.__get__(f)["f"] is f

#: dunder-origin
#: A generic alias gives the class behind it.
import typing
escaped = "AbstractContextManager" in str(typing.ContextManager.__origin__)

#: dunder-doc-write
#: The documentation of a library function is overwritten.
import textwrap
textwrap.dedent.__doc__ = "planted"
escaped = textwrap.dedent.__doc__ == "planted"

#: dunder-name-write
#: The name of a library class is overwritten.
import string
string.Template.__name__ = "Planted"
escaped = string.Template.__name__ == "Planted"

#: dunder-path-of-package
#: The search path of an allowed package is extended.
import json
json.__path__.append("/tmp")
escaped = "/tmp" in json.__path__

#: dunder-file-of-module
#: The place of a library on the disk is read.
import json
escaped = json.__file__[:1] == "/"

#: dunder-loader-reads-files
#: The loader of a module reads any file.
import json
escaped = json.__loader__.get_data("/proc/self/status")[:5] == b"Name:"

#: dunder-spec-loader
#: The specification of a module gives its loader.
import json
escaped = "Loader" in str(json.__spec__.loader)

#: dunder-builtins-of-module
#: A module gives the built-in names.
import json
escaped = "open" in json.__builtins__

#: dunder-single-sided
#: A name with leading underscores only is no private name of a class.
import hashlib
escaped = "_md5.md5" in str(hashlib.__get_builtin_constructor("md5")(b""))

#: dunder-class-property-lies
#: A class lies about its class, so that isinstance is wrong about it.
class Liar:
    @property
    def __class__(self):
        return str
escaped = isinstance(Liar(), str)

#: dunder-slots-dict
#: __slots__ names a dunder.
class A:
    __slots__ = ("__dict__",)
a = A()
a.planted = 42
escaped = a.__dict__ == {"planted": 42}

#: dunder-debug-dir
#: An own __dir__ is no way around the missing dir, but object's is.
import random
escaped = "_os" in type(random).__dir__(random)

#: dunder-sizeof-chain
#: A dunder method of a dunder result, nothing is a plain name.
escaped = [].__class__.__class__.__name__ == "type"

#: dunder-text-signature
#: A text signature is evaluated with every module in reach when a dataclass writes its documentation.
import dataclasses
class Init:
    __text_signature__ = "(self, a=sys.platform)"
    def __get__(self, obj, owner):
        return self
    def __call__(self, *args):
        pass
@dataclasses.dataclass(init=False)
class A:
    __init__ = Init()
escaped = "linux" in A.__doc__
