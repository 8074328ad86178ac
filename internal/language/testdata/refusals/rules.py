# Each cell does one thing that a rule refuses, harmful or not. The others would
# often stop the harm: here each rule must speak for itself, some of them before
# anything runs.

#: syntax-error
#: What is no Python.
#: rule syntax
x = = 1

#: import-os
#: A module that is not allowed.
#: rule import-not-allowed
#: before it runs
import os

#: import-from-os
#: The same by its other form.
#: rule import-not-allowed
#: before it runs
from os import path

#: import-submodule
#: A submodule of an allowed module is another module.
#: rule import-not-allowed
import json.decoder

#: import-relative
#: A package that the script is not in.
#: rule import-relative
from . import x

#: import-star
#: Names that nobody has seen.
#: rule import-star
from math import *

#: import-private
#: A private name of a module.
#: rule import-private
from random import _inst

#: builtin-call
#: A builtin that is not allowed.
#: rule builtin-not-allowed
#: before it runs
eval("1")

#: builtin-value
#: The same as a value.
#: rule builtin-not-allowed
f = [getattr]

#: builtin-decorator
#: The same as a decorator.
#: rule builtin-not-allowed
@exec
def f():
    pass

#: builtin-group
#: Groups of exceptions are not there.
#: rule builtin-not-allowed
#: since 3.11
raise ExceptionGroup("x", [ValueError()])

#: dunder-name-read
#: A name of the interpreter's is read.
#: rule dunder-name
x = __builtins__

#: dunder-name-bound
#: It is bound, in a form that is no assignment.
#: rule dunder-name
try:
    pass
except ValueError as __builtins__:
    pass

#: dunder-attribute-read
#: An attribute that leads into the interpreter.
#: rule dunder-attribute
x = (1).__class__

#: dunder-attribute-assigned
#: A method of the data model may be read, and not be set from outside.
#: rule dunder-attribute
class A:
    pass
A.__eq__ = None

#: inner-attribute-generator
#: The frame of a generator.
#: rule inner-attribute
x = (i for i in ()).gi_frame

#: inner-attribute-own
#: The name is refused on every object, since nobody knows whose it will be.
#: rule inner-attribute
def f(x):
    return x.tb_frame

#: hasattr-dunder
#: A string that can be seen.
#: rule attribute-by-string
#: before it runs
hasattr(1, "__class__")

#: hasattr-computed
#: A string that is put together.
#: rule attribute-by-string
hasattr(1, "__cl" + "ass__")

#: format-literal
#: A format that can be seen.
#: rule attribute-by-string
#: before it runs
"{0.__class__}".format(1)

#: format-value
#: The method as a value.
#: rule attribute-by-string
#: before it runs
f = "{0.__class__}".format

#: format-computed
#: A format that is put together.
#: rule attribute-by-string
("{0.__cl" + "ass__}").format(1)

#: format-unbound
#: The method of the class.
#: rule attribute-by-string
str.format("{0.__class__}", 1)

#: format-subclass
#: The method of a subclass.
#: rule attribute-by-string
class S(str):
    pass
S("{0.__class__}").format(1)

#: getattribute-frame
#: object.__getattribute__ with the name of a frame.
#: rule attribute-by-string
object.__getattribute__((i for i in ()), "gi_" + "frame")

#: getattribute-class
#: object.__getattribute__ of a class gives what the class keeps, as it is.
#: rule attribute-by-string
object.__getattribute__(int, "real")

#: getattribute-private
#: object.__getattribute__ with a private name of the library's.
#: rule private-attribute
import random
object.__getattribute__(random.Random(), "_rand" + "below")

#: setattr-dunder
#: object.__setattr__ with the name of what holds an object together.
#: rule attribute-by-string
class A:
    pass
object.__setattr__(A(), "__cl" + "ass__", A)

#: setattr-library
#: object.__setattr__ of a function of the library.
#: rule shared-object
import json
object.__setattr__(json.dumps, "x", 1)

#: format-in-place
#: The method is read, where it seems to be written.
#: rule attribute-in-place
text = ""
text.format += 1

#: private-of-an-object
#: A private attribute of the library's.
#: rule private-attribute
import random
random.Random()._randbelow

#: private-inherited
#: The same, inherited.
#: rule private-attribute
import fractions
class R(fractions.Fraction):
    pass
R()._numerator

#: private-inherited-by-dataclass
#: The same, by a class that @dataclass has made anew.
#: rule private-attribute
#: since 3.10
import collections, dataclasses
@dataclasses.dataclass(slots=True)
class W(collections.Counter):
    a: int = 1
W()._keep_positive

#: private-of-a-metaclass
#: A private method that a class of the script has from its metaclass.
#: rule private-attribute
import collections.abc
class E(collections.abc.Sized):
    pass
E._abc_registry_clear

#: private-in-place
#: It is read where it seems to be written.
#: rule private-attribute
import fractions
class E(fractions.Fraction):
    pass
E._numerator += 1

#: private-mangled
#: A private name that the compiler makes of another.
#: rule private-attribute
import collections
class UserList:
    def read(self, other):
        return other.__cast
UserList().read(collections.UserList())

#: private-in-a-method
#: A private attribute that no class has, but the methods of one use.
#: rule private-attribute
import pprint
pprint.PrettyPrinter()._stream

#: object-of-an-error
#: What an AttributeError was about may be the library's.
#: rule private-attribute
#: since 3.10
try:
    (1).nothing
except AttributeError as e:
    e.obj

#: method-resolution-order
#: A class tells the classes behind it.
#: rule private-attribute
int.mro()

#: base-final
#: A class of the library that is not listed as open.
#: rule base-class
import textwrap
class W(textwrap.TextWrapper):
    pass

#: base-hidden-by-another
#: The same behind a base with an __init_subclass__ of its own.
#: rule base-class
import dataclasses
class First:
    def __init_subclass__(cls):
        pass
class Second(First, type(dataclasses.field())):
    pass

#: base-no-class
#: What stands for a base is no class.
#: rule base-class
class Base:
    def __getattr__(self, name):
        return lambda bases: (object,)
class A(Base()):
    pass

#: private-overridden
#: A private method of the library is overridden.
#: rule private-attribute
import collections
class C(collections.Counter):
    def _keep_positive(self):
        return self

#: special-method-object
#: A special method that is no function.
#: rule special-method
class Equal:
    def __call__(self, other):
        return True
class A:
    __eq__ = Equal()

#: special-method-bound
#: A special method that is bound to a container, and would collect what it is called with.
#: rule special-method
seen = []
class A:
    __eq__ = classmethod
A() == 1

#: slots-special
#: A special attribute by its name in __slots__.
#: rule attribute-by-string
class A:
    __slots__ = ["__wrapped" + "__"]

#: cached-property-name
#: A cached property is told the name of a special attribute.
#: rule attribute-by-string
import functools
functools.cached_property(len).__set_name__(int, "__reduce_ex__")

#: register-library
#: A class of the library takes others for its own.
#: rule private-attribute
import collections.abc
class A:
    pass
collections.abc.Sized.register(A)

#: type-call
#: A class that no class statement makes.
#: rule type-call
#: before it runs
type("X", (), {})

#: type-call-of-a-metaclass
#: The same by the type of a type.
#: rule type-call
type(int)("X", (), {})

#: type-call-of-a-value
#: The same by a value.
#: rule type-call
list(map(type, ["X"], [()], [{}]))

#: type-call-of-an-alias
#: The same by an alias.
#: rule type-call
type[int]("X", (), {})

#: metaclass-keyword
#: A class with a metaclass.
#: rule metaclass
#: before it runs
class A(metaclass=int):
    pass

#: metaclass-base
#: A class that is one.
#: rule metaclass
#: before it runs
class M(type):
    pass

#: metaclass-base-of-a-value
#: The same by a value.
#: rule metaclass
base = [type][0]
class M(base):
    pass

#: metaclass-keywords
#: The keyword comes from a dict.
#: rule metaclass
class A(**{"meta" + "class": int}):
    pass

#: match-keyword
#: A class pattern reads what must be guarded.
#: rule match-attribute
#: since 3.10
match "":
    case str(format=f):
        pass

#: match-inner
#: A class pattern reads a frame.
#: rule match-attribute
#: since 3.10
match (i for i in ()):
    case object(gi_frame=f):
        pass

#: match-value
#: A value pattern reads it.
#: rule match-attribute
#: since 3.10
text = ""
match 1:
    case text.format:
        pass

#: match-args-computed
#: The names of a positional pattern are put together.
#: rule match-args
#: before it runs
class A:
    __match_args__ = tuple(["x"])

#: match-args-elsewhere
#: They come from a loop.
#: rule match-args
class A:
    for __match_args__ in [("x",)]:
        pass

#: match-args-inner
#: They name a frame.
#: rule match-args
class A:
    __match_args__ = ("gi_frame",)

#: match-args-inherited
#: They come from a named tuple, and are read of whatever is registered.
#: rule match-args
#: since 3.10
import collections, collections.abc
class A(collections.namedtuple("P", "gi_" + "frame"), collections.abc.Sized):
    pass

#: match-args-of-fields
#: The fields of a dataclass that is a text.
#: rule match-args
import dataclasses
@dataclasses.dataclass(init=False)
class S(str):
    format: object

#: base-alias
#: A class that passes on the attributes of another.
#: rule base-class
class A(type(list[int])):
    pass

#: base-super
#: The same by super.
#: rule base-class
class A(super):
    pass

#: base-field
#: A field of a dataclass that lies.
#: rule base-class
import dataclasses
class F(type(dataclasses.field())):
    pass

#: base-property
#: A property of an enumeration that looks elsewhere.
#: rule base-class
#: since 3.11
import enum
class P(enum.property):
    pass

#: except-star
#: An except clause that believes what a group says.
#: rule except-star
#: since 3.11
try:
    pass
except* ValueError:
    pass

#: shared-module
#: A module.
#: rule shared-object
import math
math.x = 1

#: shared-module-deleted
#: A name of a module.
#: rule shared-object
import math
del math.pi

#: shared-class
#: A class of the library.
#: rule shared-object
import json
json.JSONEncoder.x = 1

#: shared-function
#: A function of the library.
#: rule shared-object
import json
json.dumps.x = 1

#: shared-method
#: A function of a class of the library.
#: rule shared-object
import json
json.JSONEncoder.encode.x = 1

#: shared-object
#: An object of the library whose class is not ours to change.
#: rule shared-object
import dataclasses
dataclasses.field().name = "x"

#: shared-by-expression
#: The object is what an expression gives, in a function.
#: rule shared-object
import json
def f():
    [json.JSONEncoder][0].x = 1
f()

#: shared-by-target
#: The store is the target of a loop.
#: rule shared-object
import json
for json.JSONEncoder.x in [1]:
    pass

#: shared-by-wraps
#: functools changes a function of the library.
#: rule shared-object
import functools, json
def f():
    pass
functools.update_wrapper(json.dumps, f)

#: shared-by-initializer
#: The initializer that @dataclass writes sets attributes of whatever it gets.
#: rule shared-object
import dataclasses, json
@dataclasses.dataclass
class A:
    x: int
A.__init__(json.JSONEncoder, 1)

#: many-findings
#: More than are shown.
#: rule more-findings
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
x = [eval, eval, eval, eval, eval]
