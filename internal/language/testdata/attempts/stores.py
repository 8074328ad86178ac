#: store-after-rebinding
#: A variable whose object was looked at is bound to another.
import textwrap
class A:
    pass
def f(a, b):
    a.x = 1
    a = b
    a.planted = 2
f(A(), textwrap.TextWrapper)
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-after-unpacking
#: It is bound by unpacking.
import textwrap
class A:
    pass
def f(a, b):
    a.x = 1
    (a, _), a.y = (b, 1), 3
    a.planted = 2
f(A(), textwrap.TextWrapper)
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-after-walrus
#: It is bound inside of an expression.
import textwrap
class A:
    pass
def f(a, b):
    a.x = 1
    [a := b for _ in [1]]
    a.planted = 2
f(A(), textwrap.TextWrapper)
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-after-nonlocal
#: It is bound by a function inside.
import textwrap
class A:
    pass
def f(a, b):
    def swap():
        nonlocal a
        a = b
    a.x = 1
    swap()
    a.planted = 2
f(A(), textwrap.TextWrapper)
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-of-a-global
#: It is a global that somebody else binds.
import textwrap
class A:
    pass
a = A()
def swap():
    global a
    a = textwrap.TextWrapper
def f():
    a.x = 1
    swap()
    a.planted = 2
f()
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-in-a-loop
#: The second turn of a loop finds another object.
import textwrap
class A:
    pass
def f(things):
    a = A()
    a.x = 1
    for thing in things:
        a.planted = 2
        a = thing
f([textwrap.TextWrapper, A()])
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-in-a-handler
#: The look at the object raises, and the handler goes on.
import textwrap
def f(a):
    try:
        a.x = 1
    except Exception:
        a.planted = 2
    finally:
        try:
            a.planted = 3
        except Exception:
            pass
try:
    f(textwrap.TextWrapper)
except Exception:
    pass
class Refusing:
    def __setattr__(self, name, value):
        raise ValueError
def g(a, b):
    try:
        a.x = 1
    except ValueError:
        a = b
        a.planted = 2
try:
    g(Refusing(), textwrap.TextWrapper)
except Exception:
    pass
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-in-a-branch
#: The look is in a branch that is not taken.
import textwrap
class A:
    pass
def f(a, looked):
    if looked:
        a.x = 1
    a.planted = 2
f(textwrap.TextWrapper, False)
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-by-pattern
#: It is bound by a pattern.
#: since 3.10
import textwrap
class A:
    pass
def f(a, b):
    a.x = 1
    match b:
        case a:
            a.planted = 2
f(A(), textwrap.TextWrapper)
escaped = hasattr(textwrap.TextWrapper, "planted")

#: store-by-unbound-method
#: A method of the library stores to a class of the library.
import calendar, textwrap
calendar.Calendar.setfirstweekday(textwrap.TextWrapper, 6)
escaped = hasattr(textwrap.TextWrapper, "_firstweekday")

#: store-by-property
#: A property of the library stores to a class of the library.
import calendar, textwrap
calendar.Calendar.firstweekday.fset(textwrap.TextWrapper, 6)
escaped = hasattr(textwrap.TextWrapper, "_firstweekday")

#: store-by-inherited-private
#: A private method of a metaclass is read where it seems to be written, and called.
import enum
box = []
class Catch:
    def __radd__(self, other):
        box.append(other)
        return other
class E(enum.Enum):
    A = 1
try:
    E._convert_ += Catch()
except AttributeError:
    pass
escaped = "_convert_" in str(box)

#: string-frame
#: object.__getattribute__ gives the frame of a generator.
g = (i for i in "a")
escaped = type(object.__getattribute__(g, "gi_" + "frame")).__name__ == "frame"
