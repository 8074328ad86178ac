#: bind-builtins-assignment
#: The built-in names are replaced by an assignment.
#: since 3.10
__builtins__ = {"ord": lambda c: 42}
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-annotated
#: The built-in names are replaced by an annotated assignment.
#: since 3.10
__builtins__: dict = {"ord": lambda c: 42}
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-unpacking
#: The built-in names are replaced by an unpacking assignment.
#: since 3.10
[a, (b, __builtins__)] = 1, (2, {"ord": lambda c: 42})
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-walrus
#: The built-in names are replaced by an assignment expression.
#: since 3.10
print((__builtins__ := {"ord": lambda c: 42}) is None)
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-walrus-in-comprehension
#: An assignment expression in a comprehension binds in the outer scope.
#: since 3.10
[0 for _ in "a" if (__builtins__ := {"ord": lambda c: 42})]
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-for
#: The built-in names are replaced by a loop.
#: since 3.10
for __builtins__ in [{"ord": lambda c: 42}]:
    pass
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-with
#: The built-in names are replaced by a with statement.
#: since 3.10
class Give:
    def __enter__(self):
        return {"ord": lambda c: 42}
    def __exit__(self, *args):
        pass
with Give() as __builtins__:
    pass
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-import-as
#: The built-in names are replaced by an import.
#: since 3.10
import math as __builtins__
def probe():
    return tau
escaped = 6 < probe() < 7

#: bind-builtins-from-import-as
#: The built-in names are replaced by a name that is imported.
#: since 3.10
from textwrap import TextWrapper as __builtins__
def probe():
    return ord("a")
try:
    probe()
except TypeError as e:
    escaped = "subscriptable" in str(e)

#: bind-builtins-except-as
#: The built-in names are replaced by the name of a handler.
#: since 3.10
class E(Exception):
    def __getitem__(self, key):
        return 42
try:
    raise E()
except E as __builtins__:
    def probe():
        return name_that_nobody_defined
escaped = probe() == 42

#: bind-builtins-function-name
#: The built-in names are replaced by a function of that name.
#: since 3.10
def __builtins__():
    pass
def probe():
    return ord("a")
try:
    probe()
except TypeError as e:
    escaped = "subscriptable" in str(e)

#: bind-builtins-class-name
#: The built-in names are replaced by a class of that name, which answers to every name.
#: since 3.10
class __builtins__:
    def __class_getitem__(cls, key):
        return 42
def probe():
    return name_that_nobody_defined
escaped = probe() == 42

#: bind-builtins-global
#: The built-in names are replaced from inside a function.
#: since 3.10
def go():
    global __builtins__
    __builtins__ = {"ord": lambda c: 42}
go()
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-global-in-class
#: The built-in names are replaced from inside a class body.
#: since 3.10
class A:
    global __builtins__
    __builtins__ = {"ord": lambda c: 42}
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-builtins-global-import
#: The built-in names are replaced by an import inside a function.
#: since 3.10
def go():
    global __builtins__
    import math as __builtins__
go()
def probe():
    return tau
escaped = 6 < probe() < 7

#: bind-builtins-type-alias
#: The built-in names are replaced by a type alias of that name.
#: since 3.12
type __builtins__ = int
def probe():
    return ord("a")
try:
    probe()
except TypeError as e:
    escaped = "subscriptable" in str(e) or "not generic" in str(e)

#: bind-builtins-empty
#: The built-in names are replaced by none at all.
#: since 3.10
for __builtins__ in [{}]:
    pass
def probe():
    return ord("a")
try:
    probe()
except NameError:
    escaped = ord("a") == 97

#: bind-builtins-nfkc
#: The name is written with letters that the parser folds.
#: since 3.10
__bu𝓲ltins__ = {"ord": lambda c: 42}
def probe():
    return ord("a")
escaped = probe() == 42

#: bind-build-class
#: The hidden function behind the class statement is replaced in new built-in names.
#: since 3.10
__builtins__ = {"__build_class__": lambda body, name, *bases: 42}
def probe():
    class A:
        pass
    return A
escaped = probe() == 42

#: bind-import-function
#: The hidden function behind the import statement is replaced in new built-in names.
#: since 3.10
__builtins__ = {"__import__": lambda *args: 42}
def probe():
    import os
    return os
escaped = probe() == 42

#: bind-name-for
#: The name of the script is replaced by a loop, and its annotations are evaluated elsewhere.
import typing
for __name__ in ["os"]:
    class A:
        x: "getcwd"
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: bind-name-walrus-in-class-arguments
#: The name of the script is replaced inside the head of a class.
import typing
class B:
    def __init_subclass__(cls, **kw):
        pass
class A(B, k=(__name__ := "os")):
    x: "getcwd"
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: bind-name-except
#: The name of the script is replaced by the name of a handler whose text is a module.
import typing
class E(Exception):
    def __str__(self):
        return "os"
try:
    raise E()
except E as __name__:
    __name__ = str(__name__)
    class A:
        x: "getcwd"
escaped = typing.get_type_hints(A)["x"]()[:1] == "/"

#: bind-parameter-positional-only
#: A positional-only parameter has the name a guard may have.
def f(_getattr_, /):
    return "{0.__class__}".format(1)
escaped = f(lambda o, n: o) == "<class 'int'>"

#: bind-parameter-plain
#: A parameter has the name a guard may have.
def f(_getattr_=None, __getattr__=None, _guard=None, guard=None):
    return "{0.__class__}".format(1)
escaped = f() == "<class 'int'>"

#: bind-parameter-keyword-only
#: A keyword-only parameter has the name a guard may have.
def f(*, __guard__=lambda *a: a[0]):
    return "{0.__class__}".format(1)
escaped = f() == "<class 'int'>"

#: bind-parameter-star
#: The star parameters have names a guard may have.
def f(*_getattr_, **_getitem_):
    return "{0.__class__}".format(1)
escaped = f(1, a=2) == "<class 'int'>"

#: bind-parameter-lambda
#: The parameter of a lambda has the name a guard may have.
f = lambda _getattr_=None, *_write_, __getattr__=0: "{0.__class__}".format(1)
escaped = f() == "<class 'int'>"

#: bind-parameter-nested-default
#: A nested function binds the name by its default.
def outer():
    _getattr_ = None
    def inner(_getiter_=_getattr_):
        nonlocal _getattr_
        _getattr_ = 1
        return "{0.__class__}".format(1)
    return inner()
escaped = outer() == "<class 'int'>"

#: bind-class-scope
#: A class body binds the name a guard may have.
class A:
    _getattr_ = None
    text = "{0.__class__}".format(1)
escaped = A.text == "<class 'int'>"

#: bind-type-parameter
#: A type parameter has the name a guard may have.
#: since 3.12
def f[_getattr_, *_write_, **_getiter_]():
    return "{0.__class__}".format(1)
escaped = f() == "<class 'int'>"

#: bind-type-parameter-dunder
#: A type parameter of a class shadows the built-in names in its body.
#: since 3.12
class A[__builtins__]:
    seen = __builtins__
escaped = type(A.seen).__name__ == "TypeVar"

#: bind-shadow-helpers
#: The names that a guard needs itself are replaced in the script.
isinstance = hasattr = type = str = lambda *args: False
escaped = "{0.__class__}".format(1) == "<class 'int'>"

#: bind-shadow-then-callback
#: A replaced built-in function makes a check in the script's scope return what the script wants.
def isinstance(*args):
    return True
def len(x):
    return 0
def any(x):
    return False
def all(x):
    return True
escaped = "{0.__class__}".format(1) == "<class 'int'>"

#: bind-global-getattr-hook
#: A module level __getattr__ and a replaced import function stand ready in the script.
def __getattr__(name):
    return name
def __import__(*args):
    return args
import os
escaped = "module 'os'" in str(os)

#: bind-exec-in-except-star
#: The name of an except* handler is the name of the built-in names.
#: since 3.11
class G(ExceptionGroup):
    def __getitem__(self, key):
        return 42
    def derive(self, excs):
        return G("g", excs)
try:
    raise G("g", [KeyError()])
except* KeyError as __builtins__:
    def probe():
        return name_that_nobody_defined
escaped = probe() == 42
