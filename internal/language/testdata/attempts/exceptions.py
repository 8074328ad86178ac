#: exception-attribute-error-object
#: An AttributeError holds the object that lacks the attribute.
#: since 3.10
import random
try:
    random._os.nothing_here
except AttributeError as e:
    escaped = "module 'os'" in str(e.obj)

#: exception-object-of-guard
#: The error about a missing public name of an allowed module holds the real module.
#: since 3.10
import random
try:
    random.nothing_here
except AttributeError as e:
    escaped = "module 'os'" in str(e.obj._os)

#: exception-object-of-guard-context
#: The error below the error of a guard holds the real module.
#: since 3.10
import random
try:
    random.nothing_here
except Exception as e:
    chain = [e, e.__cause__, e.__context__]
    escaped = any("module 'os'" in str(x.obj._os) for x in chain if isinstance(x, AttributeError))

#: exception-object-through-library
#: A library walks an attribute chain and fails late, the error holds what it reached.
#: since 3.10
import operator, random
try:
    operator.attrgetter("_os.nothing_here")(random)
except AttributeError as e:
    escaped = "module 'os'" in str(e.obj)

#: exception-object-through-formatter
#: A formatter fails late and the error holds what it reached.
#: since 3.10
import string
try:
    string.Formatter().get_field("0.__self__.nothing_here", (print,), {})
except AttributeError as e:
    escaped = "module 'builtins'" in str(e.obj)

#: exception-traceback-by-format
#: A format field walks from an exception to the global variables.
secret = "tango" * 2
try:
    1 / 0
except ZeroDivisionError as e:
    escaped = "{0.__traceback__.tb_frame.f_globals[secret]}".format(e) == "tangotango"

#: exception-traceback-setter
#: An exception is raised with a foreign traceback and hands it out in __exit__.
box = []
class Catch:
    def __enter__(self):
        return self
    def __exit__(self, kind, value, tb):
        box.append(value.__traceback__)
        return True
with Catch():
    1 / 0
escaped = type(box[0].tb_frame).__name__ == "frame"

#: exception-star-handler
#: A group that lies in split makes except* bind something that is no exception.
#: since 3.11
class Group(ExceptionGroup):
    def split(self, kind):
        return ExceptionGroup("seen", [KeyError(42)]), None
try:
    raise Group("g", [ValueError(1)])
except* TypeError as e:
    escaped = e.exceptions[0].args == (42,)

#: exception-star-type-confusion
#: A group that lies in split binds a plain object as the handled exception.
#: since 3.11
box = []
class Group(ExceptionGroup):
    def split(self, kind):
        return "no exception", None
def f():
    try:
        raise Group("g", [ValueError(1)])
    except* TypeError as e:
        box.append(e)
f()
escaped = box == ["no exception"]

#: exception-group-split-callback
#: The condition of subgroup is called with live exceptions and their tracebacks.
#: since 3.11
box = []
try:
    1 / 0
except ZeroDivisionError as e:
    ExceptionGroup("g", [e]).subgroup(lambda x: box.append(x.__traceback__))
escaped = any(type(t).__name__ == "traceback" for t in box)

#: exception-type-expression
#: The type of a handler is an expression that reads what is forbidden.
box = []
def keep(x):
    box.append(x)
    return ZeroDivisionError
try:
    1 / 0
except keep(print.__self__):
    escaped = "<module 'builtins'" in str(box[0])

#: exception-from-expression
#: The cause of a raise is an expression that reads what is forbidden.
box = []
def keep(x):
    box.append(x)
try:
    raise KeyError from keep(print.__self__)
except KeyError:
    escaped = "<module 'builtins'" in str(box[0])

#: exception-stop-iteration-value
#: A generator returns its own frame in the value of StopIteration.
def g():
    return own.gi_frame
    yield
own = g()
try:
    next(own)
except StopIteration as e:
    escaped = type(e.value).__name__ == "frame"

#: exception-name-error-walk
#: The traceback of an error inside a library callback leads to frames of the library.
import re
def cb(m):
    raise KeyError("x")
try:
    re.sub("a", cb, "a")
except KeyError as e:
    names = []
    tb = e.__traceback__
    while tb:
        names.append(tb.tb_frame.f_code.co_name)
        tb = tb.tb_next
    escaped = "sub" in names

#: exception-recursion-in-guard
#: A guard is called so deep that it cannot finish, and its error is caught.
def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        return "{0.__class__}".format(n)
escaped = deep(0) == "<class 'int'>"

#: exception-recursion-at-every-depth
#: The attribute is tried at every depth below the limit, so that a guard breaks in its middle.
box = []
def deep():
    try:
        deep()
    except RecursionError:
        pass
    try:
        box.append("{0.__class__}".format(1))
    except RecursionError:
        pass
deep()
escaped = "<class 'int'>" in box
