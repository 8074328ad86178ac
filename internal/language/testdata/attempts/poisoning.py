#: poison-module-attribute
#: A function of an allowed module is replaced.
import math
math.sqrt = lambda x: 42
escaped = math.sqrt(4) == 42

#: poison-module-new-attribute
#: A new name is put into an allowed module.
import random
random.planted = 42
escaped = random.planted == 42

#: poison-module-delete
#: A name is removed from an allowed module.
import math
del math.tau
escaped = not hasattr(math, "tau")

#: poison-module-augmented
#: A number of an allowed module is changed in place.
import math
math.pi += 1
escaped = math.pi > 4

#: poison-module-annotated
#: An annotated assignment changes an allowed module.
import math
math.pi: float = 42
escaped = math.pi == 42

#: poison-module-unpacking
#: An unpacking assignment changes an allowed module.
import math
a, (b, math.pi) = 1, (2, 42)
escaped = math.pi == 42

#: poison-module-starred
#: A starred target changes an allowed module.
import math
a, *math.pi = 1, 42
escaped = math.pi == [42]

#: poison-module-for
#: The target of a loop is an attribute of an allowed module.
import math
for math.pi in [42]:
    pass
escaped = math.pi == 42

#: poison-module-with
#: The target of a with statement is an attribute of an allowed module.
import math
class Give:
    def __enter__(self):
        return 42
    def __exit__(self, *args):
        pass
with Give() as math.pi:
    pass
escaped = math.pi == 42

#: poison-module-comprehension
#: The target of a comprehension is an attribute of an allowed module.
import math
[0 for math.pi in [42]]
escaped = math.pi == 42

#: poison-module-chained
#: The second target of a chained assignment is an attribute of an allowed module.
import math
x = math.pi = 42
escaped = math.pi == 42

#: poison-class-attribute
#: A method of a library class is replaced.
import textwrap
textwrap.TextWrapper.fill = lambda self, text: "planted"
escaped = textwrap.fill("x") == "planted"

#: poison-class-attribute-data
#: A constant of a library class is replaced.
import json
json.JSONEncoder.item_separator = ";"
escaped = json.JSONEncoder().encode([1, 2]) == "[1;2]"

#: poison-class-by-type
#: The library class is reached by type() of an object.
import json
type(json.JSONEncoder()).item_separator = ";"
escaped = json.JSONEncoder().encode([1, 2]) == "[1;2]"

#: poison-class-by-mro
#: The library class is reached by the resolution order of an own subclass.
import json
class E(json.JSONEncoder):
    pass
E.mro()[1].item_separator = ";"
escaped = json.JSONEncoder().encode([1, 2]) == "[1;2]"

#: poison-class-by-base
#: The library class is reached by __base__ of an own subclass.
import json
class E(json.JSONEncoder):
    pass
E.__base__.item_separator = ";"
escaped = json.JSONEncoder().encode([1, 2]) == "[1;2]"

#: poison-class-by-parameter
#: The library class is changed by a function that does not name it.
import collections
def mark(cls):
    cls.planted = 42
mark(collections.Counter)
escaped = collections.Counter.planted == 42

#: poison-class-by-decorator
#: A decorator changes the base of the class it decorates.
import collections
def mark(cls):
    cls.mro()[1].planted = 42
    return cls
@mark
class A(collections.UserDict):
    pass
escaped = collections.UserDict.planted == 42

#: poison-class-in-init-subclass
#: An __init_subclass__ hook changes a library class among the bases.
import collections
class Hook:
    def __init_subclass__(cls):
        for base in cls.mro():
            try:
                base.planted = 42
            except TypeError:
                pass
class A(Hook, collections.UserList):
    pass
escaped = collections.UserList.planted == 42

#: poison-class-in-set-name
#: A __set_name__ hook changes the base of the class it sits in.
import string
class Hook:
    def __set_name__(self, owner, name):
        owner.mro()[1].delimiter = "%"
class T(string.Template):
    hook = Hook()
escaped = string.Template.delimiter == "%"

#: poison-class-for-target
#: The target of a loop is an attribute of a library class.
import fractions
for fractions.Fraction.limit_denominator in [lambda self: 42]:
    pass
escaped = fractions.Fraction(1, 2).limit_denominator() == 42

#: poison-class-delete
#: A method is removed from a library class.
import difflib
del difflib.SequenceMatcher.ratio
escaped = not hasattr(difflib.SequenceMatcher, "ratio")

#: poison-class-operator
#: An operator of a library class is replaced.
import fractions
fractions.Fraction.__add__ = lambda a, b: 42
escaped = fractions.Fraction(1, 2) + 1 == 42

#: poison-class-template-pattern
#: The pattern of a library class is replaced by one that compiled in an own subclass.
import string
class T(string.Template):
    pattern = "(?P<escaped>x)|(?P<named>y)|(?P<braced>z)|(?P<invalid>q)"
string.Template.pattern = T.pattern
escaped = string.Template("y").substitute({"y": 42}) == "42"

#: poison-function-attribute
#: An attribute is put onto a library function.
import textwrap
textwrap.dedent.planted = 42
escaped = textwrap.dedent.planted == 42

#: poison-function-defaults
#: The defaults of a library function are replaced.
import textwrap
textwrap.wrap.__defaults__ = (5,)
escaped = textwrap.wrap("aaa bbb") == ["aaa", "bbb"]

#: poison-method-attribute
#: An attribute is put onto a method of a library class.
import random
random.Random.choice.planted = 42
escaped = random.Random.choice.planted == 42

#: poison-public-dict
#: A public table of a library class is changed by an item assignment.
import textwrap
textwrap.TextWrapper.unicode_whitespace_trans[ord("a")] = "b"
escaped = textwrap.fill("a a") == "b b"

#: poison-public-dict-update
#: The same table is changed by a method.
import textwrap
textwrap.TextWrapper.unicode_whitespace_trans.update({ord("a"): "b"})
escaped = textwrap.fill("a a") == "b b"

#: poison-public-dict-through-instance
#: The same table is reached through an object.
import textwrap
textwrap.TextWrapper().unicode_whitespace_trans |= {ord("a"): "b"}
escaped = textwrap.fill("a a") == "b b"

#: poison-public-dict-through-subclass
#: The same table is reached through an own subclass.
import textwrap
class W(textwrap.TextWrapper):
    pass
W.unicode_whitespace_trans.setdefault(ord("a"), "b")
escaped = textwrap.fill("a a") == "b b"

#: poison-public-list
#: A public table of an allowed module is changed.
import calendar
calendar.mdays[1] = 99
escaped = calendar.monthrange(2023, 1)[1] == 99

#: poison-public-list-slice
#: The same table is changed by a slice assignment.
import calendar
calendar.mdays[1:2] = [99]
escaped = calendar.monthrange(2023, 1)[1] == 99

#: poison-public-list-of-class
#: A public list of a library class is changed.
import calendar
calendar.HTMLCalendar.cssclasses[0] = "planted"
escaped = calendar.HTMLCalendar().cssclasses[0] == "planted"

#: poison-public-set
#: A public set of an allowed module is emptied.
import hashlib
hashlib.algorithms_available.clear()
escaped = len(hashlib.algorithms_available) == 0

#: poison-public-set-guaranteed
#: A public set of an allowed module is extended in place.
import hashlib
names = hashlib.algorithms_guaranteed
names |= {"planted"}
escaped = "planted" in hashlib.algorithms_guaranteed

#: poison-all-list
#: The list of public names of a module is changed.
import random
random.__all__.append("_os")
escaped = "_os" in random.__all__

#: poison-shared-calendar-object
#: The shared calendar object of the module is changed.
import calendar
calendar.c.firstweekday = 5
escaped = calendar.firstweekday() == 5

#: poison-default-context
#: The template of all decimal contexts is changed.
import decimal
decimal.DefaultContext.prec = 3
escaped = decimal.Context().prec == 3

#: poison-extended-context
#: A shared ready-made decimal context is changed.
import decimal
decimal.ExtendedContext.prec = 3
escaped = decimal.ExtendedContext.prec == 3

#: poison-json-encoder-object
#: The shared encoder of the JSON module is changed.
import json
json._default_encoder.item_separator = ";"
escaped = json.dumps([1, 2]) == "[1;2]"

#: poison-json-decoder-object
#: The shared decoder of the JSON module is changed.
import json
json._default_decoder.scan_once = lambda text, i: (42, len(text))
escaped = json.loads("1") == 42

#: poison-enum-members
#: The members of a library enum are changed through a private table.
import re
re.RegexFlag._member_map_["PLANTED"] = 42
escaped = re.RegexFlag["PLANTED"] == 42

#: poison-enum-values
#: The values of a library enum are changed through a private table.
import uuid
uuid.SafeUUID._value2member_map_[42] = "planted"
escaped = uuid.SafeUUID(42) == "planted"

#: poison-random-state-object
#: The methods of the shared generator are exchanged on the module.
import random
random.choice = lambda seq: 42
escaped = random.choice([1]) == 42

#: poison-formatter
#: A method of the formatter is replaced, so that it returns what it was given.
import string
string.Formatter.format_field = lambda self, value, spec: "planted"
escaped = string.Formatter().format("{}", 1) == "planted"

#: poison-dataclass-missing
#: The marker for a missing default gets an attribute.
import dataclasses
dataclasses.MISSING.planted = 42
escaped = dataclasses.field().default.planted == 42

#: poison-typing-special
#: A special form of typing gets an attribute.
import typing
typing.Generic.planted = 42
escaped = typing.Generic.planted == 42

#: poison-typing-namedtuple-function
#: A function of typing gets an attribute.
import typing
typing.NamedTuple.planted = 42
escaped = typing.NamedTuple.planted == 42

#: poison-abstract-class
#: An abstract class of the library is changed for all of its subclasses.
import collections
import collections.abc
collections.abc.MutableMapping.popitem = lambda self: 42
escaped = collections.UserDict(a=1).popitem() == 42

#: poison-exception-class
#: An exception class of the library is changed.
import json
json.JSONDecodeError.planted = 42
escaped = json.JSONDecodeError("m", "d", 0).planted == 42

#: poison-namedtuple-of-library
#: A named tuple class of the library is changed.
import difflib
difflib.Match.planted = 42
escaped = difflib.Match(0, 0, 0).planted == 42

#: poison-submodule
#: A submodule that is allowed is changed.
import collections.abc
collections.abc.Sized = 42
from collections.abc import Sized
escaped = Sized == 42

#: poison-import-as-attribute
#: The shared module is changed under another name.
import math as m
n = m
n.e = 42
escaped = m.e == 42

#: poison-in-function-scope
#: The shared module is changed inside a nested function that gets it as argument.
import math
def outer(module):
    def inner():
        module.e = 42
    inner()
outer(math)
escaped = math.e == 42

#: poison-through-self
#: The shared module hides in an attribute of an own object.
import math
class A:
    def __init__(self):
        self.lib = math
    def go(self):
        self.lib.e = 42
A().go()
escaped = math.e == 42

#: poison-through-container
#: The shared module hides in a container.
import math
[math][0].e = 42
escaped = math.e == 42

#: poison-through-conditional
#: The target is the attribute of a conditional expression.
import math
(math if math else None).e = 42
escaped = math.e == 42

#: poison-module-shadows-builtin
#: A built-in function is replaced for one library by a name in its module.
import textwrap
textwrap.len = lambda x: 0
escaped = textwrap.wrap("aaa bbb", 3) == ["aaa bbb"]

#: poison-regex-cache
#: The private cache of compiled patterns is emptied.
import re
re.compile("(?P<a>x)")
re._cache.clear()
escaped = len(re._cache) == 0

#: poison-shared-list-by-shuffle
#: A library function changes the order of a shared list.
import calendar, random
before = list(calendar.mdays)
while calendar.mdays == before:
    random.shuffle(calendar.mdays)
escaped = calendar.mdays != before

#: poison-shared-list-unbound-method
#: The unbound method of the list type changes a shared list.
import calendar
list.append(calendar.mdays, 99)
escaped = calendar.mdays[-1] == 99

#: poison-shared-dict-unbound-method
#: The unbound method of the dict type changes a shared table.
import textwrap
dict.update(textwrap.TextWrapper.unicode_whitespace_trans, {ord("a"): "b"})
escaped = textwrap.fill("a a") == "b b"

#: poison-shared-list-loop-target
#: The target of a loop is an item of a shared list.
import calendar
for calendar.mdays[1] in [99]:
    pass
escaped = calendar.monthrange(2023, 1)[1] == 99

#: poison-shared-list-comprehension-target
#: The target of a comprehension is an item of a shared list.
import calendar
[0 for calendar.mdays[1] in [99]]
escaped = calendar.monthrange(2023, 1)[1] == 99

#: poison-shared-list-delete-item
#: An item of a shared list is deleted.
import calendar
del calendar.mdays[0]
escaped = calendar.monthrange(2023, 1)[1] == 28

#: poison-shared-dict-by-chain-map
#: A chain map writes into a shared table behind it.
import collections, textwrap
collections.ChainMap(textwrap.TextWrapper.unicode_whitespace_trans)[ord("a")] = "b"
escaped = textwrap.fill("a a") == "b b"

#: poison-shared-dict-by-user-dict
#: A UserDict writes into a shared table that was put in its data.
import collections, textwrap
d = collections.UserDict()
d.data = textwrap.TextWrapper.unicode_whitespace_trans
d[ord("a")] = "b"
escaped = textwrap.fill("a a") == "b b"

#: poison-default-context-method
#: A method of the template of all decimal contexts changes it.
import decimal
decimal.DefaultContext.clear_traps()
escaped = decimal.Context().divide(decimal.Decimal(1), decimal.Decimal(0)).is_infinite()

#: poison-enum-class-attribute
#: A library enum gets a new attribute.
import re
re.RegexFlag.planted = 42
escaped = re.RegexFlag.planted == 42
