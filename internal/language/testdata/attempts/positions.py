#: position-decorator
#: A decorator is a call that reads what is forbidden.
box = []
@(lambda f, b=box: b.append(print.__self__))
def f():
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-class-decorator
#: A class decorator is a subscript that reads what is forbidden.
box = []
def keep(x):
    box.append(x)
@[keep(print.__self__), str][1]
class A:
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-default
#: The default of a parameter.
box = []
def keep(x):
    box.append(x)
def f(a=keep(print.__self__)):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-keyword-default
#: The default of a keyword-only parameter.
box = []
def keep(x):
    box.append(x)
def f(*, a=keep(print.__self__)):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-lambda-default
#: The default of a parameter of a lambda.
box = []
def keep(x):
    box.append(x)
f = lambda a=keep(print.__self__): a
escaped = "<module 'builtins'" in str(box[0])

#: position-annotation
#: The annotation of a parameter.
box = []
def keep(x):
    box.append(x)
def f(a: keep(print.__self__)):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-star-annotation
#: The annotation of the star parameters.
box = []
def keep(x):
    box.append(x)
def f(*a: keep(print.__self__), **b: int):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-return-annotation
#: The annotation of the result.
box = []
def keep(x):
    box.append(x)
def f() -> keep(print.__self__):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-attribute-annotation
#: The annotation of an attribute target.
box = []
def keep(x):
    box.append(x)
class A:
    pass
A.x: keep(print.__self__) = 1
escaped = "<module 'builtins'" in str(box[0])

#: position-class-base
#: The list of bases of a class.
box = []
def keep(x):
    box.append(x)
class A(keep(print.__self__) or object):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-class-keyword
#: A keyword of a class statement.
box = []
def keep(x):
    box.append(x)
class B:
    def __init_subclass__(cls, k):
        pass
class A(B, k=keep(print.__self__)):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-subscript
#: A subscript is a hidden call.
box = []
def keep(x):
    box.append(x)
class A:
    def __class_getitem__(cls, key):
        keep(key)
A[print.__self__]
escaped = "<module 'builtins'" in str(box[0])

#: position-slice
#: The step of a slice.
box = []
def keep(x):
    box.append(x)
class A:
    def __class_getitem__(cls, key):
        keep(key.step)
A[::print.__self__]
escaped = "<module 'builtins'" in str(box[0])

#: position-dict-key
#: The key of a dict.
box = []
x = {print.__self__: 1}
box.extend(x)
escaped = "<module 'builtins'" in str(box[0])

#: position-dict-spread
#: The spread of a dict.
box = []
def keep(x):
    box.append(x)
x = {**{"a": keep(print.__self__)}}
escaped = "<module 'builtins'" in str(box[0])

#: position-comprehension-element
#: The element of a comprehension.
box = []
box.extend(print.__self__ for _ in "a")
escaped = "<module 'builtins'" in str(box[0])

#: position-comprehension-condition
#: The condition of a comprehension.
box = []
def keep(x):
    box.append(x)
x = {i for i in "a" if keep(print.__self__)}
escaped = "<module 'builtins'" in str(box[0])

#: position-comprehension-second-iterable
#: The second iterable of a comprehension.
box = []
def keep(x):
    box.append(x)
x = [j for i in "a" for j in [keep(print.__self__)]]
escaped = "<module 'builtins'" in str(box[0])

#: position-assert-message
#: The message of an assertion.
box = []
def keep(x):
    box.append(x)
try:
    assert False, keep(print.__self__)
except AssertionError:
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-return
#: The result of a function.
box = []
def keep(x):
    box.append(x)
def f():
    return print.__self__
keep(f())
escaped = "<module 'builtins'" in str(box[0])

#: position-yield
#: The value of a generator.
box = []
def keep(x):
    box.append(x)
def f():
    yield print.__self__
keep(next(f()))
escaped = "<module 'builtins'" in str(box[0])

#: position-yield-from
#: The delegate of a generator.
box = []
def keep(x):
    box.append(x)
def f():
    yield from [print.__self__]
keep(next(f()))
escaped = "<module 'builtins'" in str(box[0])

#: position-delete-target
#: The target of a deletion is an attribute chain.
box = []
def keep(x):
    box.append(x)
class Bin:
    def __delitem__(self, key):
        keep(key)
del Bin()[print.__self__]
escaped = "<module 'builtins'" in str(box[0])

#: position-store-target
#: The target of an assignment has a subscript that is read.
box = []
def keep(x):
    box.append(x)
class Bin:
    def __setitem__(self, key, value):
        keep(key)
Bin()[print.__self__] = 1
escaped = "<module 'builtins'" in str(box[0])

#: position-loop-target
#: The target of a loop has a subscript that is read.
box = []
def keep(x):
    box.append(x)
class Bin:
    def __setitem__(self, key, value):
        keep(key)
for Bin()[print.__self__] in "a":
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-augmented-target
#: The target of an augmented assignment reads the attribute itself.
box = []
def keep(x):
    box.append(x)
class Catch:
    def __radd__(self, other):
        keep(other)
try:
    print.__self__ += Catch()
except AttributeError:
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-augmented-module-private
#: The target of an augmented assignment reads a private module.
box = []
def keep(x):
    box.append(x)
import random
class Catch:
    def __radd__(self, other):
        keep(other)
        return other
random._os += Catch()
escaped = "<module 'os'" in str(box[0])

#: position-with-item
#: The item of a with statement.
box = []
def keep(x):
    box.append(x)
class Ctx:
    def __init__(self, x):
        keep(x)
    def __enter__(self):
        pass
    def __exit__(self, *args):
        pass
with Ctx(print.__self__):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-call-star
#: The star argument of a call.
box = []
def keep(x):
    box.append(x)
keep(*[print.__self__])
escaped = "<module 'builtins'" in str(box[0])

#: position-call-double-star
#: The double star argument of a call.
box = []
def keep(x):
    box.append(x)
keep(**{"x": print.__self__})
escaped = "<module 'builtins'" in str(box[0])

#: position-compare
#: The last part of a chained comparison.
box = []
def keep(x):
    box.append(x)
class Any:
    def __lt__(self, other):
        keep(other)
0 < 1 and Any() < print.__self__
escaped = "<module 'builtins'" in str(box[0])

#: position-operator
#: The right side of an operator.
box = []
def keep(x):
    box.append(x)
class Any:
    def __matmul__(self, other):
        keep(other)
Any() @ print.__self__
escaped = "<module 'builtins'" in str(box[0])

#: position-conditional
#: A branch of a conditional expression.
box = []
def keep(x):
    box.append(x)
keep(print.__self__ if box == [] else 0)
escaped = "<module 'builtins'" in str(box[0])

#: position-walrus
#: The value of an assignment expression.
box = []
def keep(x):
    box.append(x)
if (found := print.__self__):
    keep(found)
escaped = "<module 'builtins'" in str(box[0])

#: position-while-else
#: The else clause of a while loop.
box = []
def keep(x):
    box.append(x)
while False:
    pass
else:
    keep(print.__self__)
escaped = "<module 'builtins'" in str(box[0])

#: position-starred-subscript
#: A starred subscript.
#: since 3.11
box = []
def keep(x):
    box.append(x)
class A:
    def __class_getitem__(cls, key):
        keep(key[0])
A[*[print.__self__]]
escaped = "<module 'builtins'" in str(box[0])

#: position-starred-annotation
#: The starred annotation of the star parameters.
#: since 3.11
box = []
def keep(x):
    box.append(x)
def f(*a: *[keep(print.__self__)]):
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-await
#: The operand of an await expression.
box = []
def keep(x):
    box.append(x)
class Now:
    def __init__(self, x):
        keep(x)
    def __await__(self):
        return iter(())
async def f():
    await Now(print.__self__)
try:
    f().send(None)
except StopIteration:
    pass
escaped = "<module 'builtins'" in str(box[0])

#: position-lambda-in-sort
#: The body of a lambda that is a sort key.
box = []
def keep(x):
    box.append(x)
sorted([1], key=lambda i: keep(print.__self__) or 0)
escaped = "<module 'builtins'" in str(box[0])

#: position-nested-class-body
#: The body of a class in a function in a class.
box = []
def keep(x):
    box.append(x)
class A:
    def f(self):
        class B:
            x = keep(print.__self__)
A().f()
escaped = "<module 'builtins'" in str(box[0])

#: position-string-join
#: The argument of a method of a literal.
box = []
def keep(x):
    box.append(x)
"".join(str(i) for i in [keep(print.__self__)])
escaped = "<module 'builtins'" in str(box[0])
