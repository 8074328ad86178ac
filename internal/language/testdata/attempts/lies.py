#: lie-dispatch-mro
#: singledispatch asks a script's object for its __mro__, and hashes each subclass of object against what it says.
import functools
seen = []
class E:
    def __init__(self, h):
        self.h = h
    def __hash__(self):
        return self.h
    def __eq__(self, other):
        seen.append(other)
        return False
class Fake:
    def __getattr__(self, name):
        if name == "__mro__":
            return [E(hash(kind)) for kind in (int, list, type(iter(bytearray())), type({}.keys()), type(None))]
        if name == "__bases__":
            return (object,)
        raise AttributeError(name)
try:
    functools.singledispatch(lambda x: None).dispatch(Fake())
except Exception:
    pass
escaped = len(seen) > 0

#: lie-subclass-hook
#: A library's question to one of its abstract classes goes on to the script's subclass of it, with the class of whatever it is about.
import collections.abc
import json
seen = []
class Watch(collections.abc.Mapping):
    @classmethod
    def __subclasshook__(cls, other):
        seen.append(other)
        return NotImplemented
collections.Counter(iter(()))
escaped = len(seen) > 0

#: lie-subclass-hook-poisons
#: The script's subclass says yes, and the library remembers it for everybody.
import collections.abc
class Watch(collections.abc.Mapping):
    @classmethod
    def __subclasshook__(cls, other):
        return True
escaped = isinstance(3, collections.abc.Mapping)

#: lie-singledispatch-annotations
#: register asks a callable for its annotations, and evaluates their text.
import functools
seen = []
class Fake:
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError(name)
    def __call__(self, x):
        return None
try:
    functools.singledispatch(lambda x: None).register(Fake())
except Exception:
    pass
escaped = "__annotations__" in seen

#: lie-template-pattern
#: A first base hides what Template does to its subclasses, and the pattern of the script is handed a function of the library.
import string
seen = []
class First:
    def __init_subclass__(cls):
        pass
class Pattern:
    def sub(self, convert, text):
        seen.append(convert)
        return text
class T(First, string.Template):
    pattern = Pattern()
T("x").substitute(a=1)
escaped = type(seen[0]).__name__ == "function"

#: lie-pprint-stream
#: A private method of a printer's subclass receives the stream that it prints to: standard output, and its class opens files.
import pprint
seen = []
class Printer(pprint.PrettyPrinter):
    def _format(self, object, stream, *rest):
        seen.append(stream)
Printer().pprint(1)
file = type(seen[0].buffer.raw)("/dev/null")
escaped = file.read(1) == b""

#: lie-pprint-repr
#: The printer looks the __repr__ of a class up in its table, where a lying one is compared with methods of the library.
import pprint
seen = []
class Repr:
    def __hash__(self):
        return hash(dict.__repr__)
    def __eq__(self, other):
        seen.append(other)
        return False
    def __call__(self):
        return "x" * 100
class A:
    __repr__ = Repr()
pprint.pformat(A())
escaped = len(seen) > 0

#: lie-field-class
#: A default says that its class is that of a field: @dataclass executes its name.
import dataclasses
F = type(dataclasses.field())
class Lying:
    def __init__(self):
        self.default = self.default_factory = dataclasses.MISSING
        self.init = self.repr = self.kw_only = False
        self.hash, self.compare, self.doc = None, True, None
        self.metadata = {}
    def __getattribute__(self, name):
        return F if name == "__class__" else object.__getattribute__(self, name)
    @property
    def name(self):
        return "x,self.seen.append(().__class__.__base__.__subclasses__())"
    @name.setter
    def name(self, value):
        pass
class X:
    a: int = Lying()
    x, seen = 1, []
dataclasses.dataclass(init=False, repr=False)(X)
X.__eq__(X(), X())
escaped = len(X.seen[0]) > 50

#: lie-field-default-class
#: @dataclass asks a default for its class.
import dataclasses
seen = []
class Default:
    def __getattribute__(self, name):
        seen.append(name)
        return object.__getattribute__(self, name)
class X:
    a: int = Default()
dataclasses.dataclass(X)
escaped = "__class__" in seen

#: lie-update-wrapper-dict
#: A wrapper without attributes says that its __dict__ is an object of the script, which is handed the one of a library function.
import functools, textwrap
class Catch:
    def update(self, other):
        other["planted"] = 42
class W:
    __slots__ = ()
    def __getattr__(self, name):
        return Catch()
    def __setattr__(self, name, value):
        pass
functools.update_wrapper(W(), textwrap.dedent)
escaped = textwrap.dedent.planted == 42

#: lie-wraps-dict
#: The same with wraps, and the attributes of another module's function.
import functools, statistics
class Catch:
    def update(self, other):
        other["planted"] = 42
class W:
    __slots__ = ()
    def __getattr__(self, name):
        return Catch()
    def __setattr__(self, name, value):
        pass
functools.wraps(statistics.mean)(W())
escaped = statistics.mean.planted == 42

#: lie-escape-translate
#: A text of the script's own class receives the table with which re escapes.
import re
class Text(str):
    def translate(self, table):
        table[97] = "planted"
        return self
re.escape(Text("x"))
escaped = re.escape("a") == "planted"

#: lie-uuid-replace
#: A text that answers for itself is checked once and used again.
import uuid
seen = []
class Text(str):
    def replace(self, *args):
        seen.append(args)
        return self
try:
    uuid.UUID(Text("x"))
except ValueError:
    pass
escaped = len(seen) > 0

#: lie-mro-entries
#: The guard asks for the bases once and the interpreter again: the second answer is a class that passes on attributes of others.
Alias = type(list[int])
class Base:
    asked = 0
    def __getattr__(self, name):
        if name == "__mro_entries__":
            return self.entries
        raise AttributeError(name)
    def entries(self, bases):
        Base.asked += 1
        return (Alias,) if Base.asked != 1 else (object,)
class First(Base()):
    pass
class Second(Base()):
    pass
escaped = issubclass(First, Alias) or issubclass(Second, Alias)

#: lie-mro-entries-super
#: The same with super.
class Base:
    asked = 0
    def __getattr__(self, name):
        if name == "__mro_entries__":
            return self.entries
        raise AttributeError(name)
    def entries(self, bases):
        Base.asked += 1
        return (super,) if Base.asked != 1 else (object,)
class First(Base()):
    pass
class Second(Base()):
    pass
escaped = issubclass(First, super) or issubclass(Second, super)

#: lie-cached-property-name
#: A cached property can be told another name, and plants a special attribute into an object.
import copy, functools
p = functools.cached_property(lambda self: lambda protocol: (str, ("planted",)))
class B:
    pass
p.__set_name__(B, "__reduce_ex__")
class C:
    pass
C.reduce = p
a = C()
a.reduce
escaped = copy.deepcopy(a) == "planted"

#: lie-slots-names
#: __slots__ gives a class a special attribute by its name as a string.
class A:
    __slots__ = ("__wrapped__",)
    def __init__(self):
        pass
class B:
    __slots__ = {"__mro_entries__": "x"}
seen = []
for kind in A, B:
    seen.append(kind().__init__)
escaped = len(seen) == 2

#: lie-class-of-exception
#: The interpreter believes what an object says of its class where it looks for one: an int that is no int.
class Fake:
    def __getattribute__(self, name):
        return int if name == "__class__" else object.__getattribute__(self, name)
escaped = isinstance(Fake(), int)

#: lie-getattr-special
#: The library asks a script's object for special attributes, and __getattr__ answers.
import copy
seen = []
class A:
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError(name)
copy.deepcopy(A())
escaped = any(name.startswith("__") for name in seen)

#: lie-descriptor-owner
#: A descriptor in a class of the script is handed to a subclass that the library makes.
import dataclasses
seen = []
class D:
    def __get__(self, thing, owner):
        seen.append(owner)
        return 5
    def __set_name__(self, owner, name):
        seen.append(owner)
class X:
    a: int = D()
dataclasses.dataclass(X)
escaped = len(seen) > 2

#: lie-enum-new
#: Enum compares a mixed-in __new__ with functions of its own.
import enum
seen = []
class New:
    def __hash__(self):
        return hash(enum.Enum.__new__)
    def __eq__(self, other):
        seen.append(other)
        return False
    def __call__(self, cls, *args):
        return object.__new__(cls)
class Mixin:
    __new__ = New()
try:
    class E(Mixin, enum.Enum):
        A = 1
except Exception:
    pass
escaped = len(seen) > 0

#: lie-enum-auto
#: A member says that its class is that of auto(), and is asked and changed as one.
import enum
Auto = type(enum.auto())
seen = []
class Lying:
    def __getattribute__(self, name):
        return Auto if name == "__class__" else object.__getattribute__(self, name)
    @property
    def value(self):
        return self
    @value.setter
    def value(self, new):
        seen.append(new)
    def __eq__(self, other):
        return True
    __hash__ = None
try:
    class E(enum.Enum):
        A = Lying()
except Exception:
    pass
escaped = len(seen) > 0

#: lie-enum-private
#: A private method of Enum is overridden in the body of a class, and called by the library.
#: since 3.11
import enum
seen = []
class E(enum.Flag):
    @classmethod
    def _iter_member_(cls, value):
        seen.append(value)
        return iter(())
    A = 1
    B = 2
list(E.A | E.B)
escaped = len(seen) > 0

#: lie-typing-parameters
#: A typing alias asks its arguments for their parameters, and believes them.
import typing
seen = []
class Fake:
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError(name)
    def __call__(self):
        pass
typing.List[Fake()]
typing.Dict[str, Fake()]
escaped = any(name.startswith("__") for name in seen)

#: lie-typing-cache
#: typing remembers the arguments of its aliases for everybody, and compares them with those that come later.
import typing
seen = []
class E:
    def __hash__(self):
        return hash(int)
    def __eq__(self, other):
        seen.append(other)
        return False
    def __call__(self):
        pass
typing.List[int]
typing.List[E()]
escaped = len(seen) > 0

#: lie-cmp-init-subclass
#: A first base hides the refusal of a class that cannot be a base.
import dataclasses
class First:
    def __init_subclass__(cls):
        pass
class Second(First, type(dataclasses.field())):
    pass
escaped = issubclass(Second, type(dataclasses.field()))

#: lie-init-subclass-typing
#: The same with a special form of typing.
import typing
class First:
    def __init_subclass__(cls, *args, **kwargs):
        pass
class Second(First, type(typing.Any if isinstance(typing.Any, type) else typing.Union)):
    pass
escaped = True

#: lie-namedtuple-module
#: The name of a class is a text that answers for itself: the class says that it is from another module.
import collections
N = collections.namedtuple("N", "x", module="textwrap")
escaped = N.__module__ == "textwrap"

#: lie-class-as-object
#: A method of the library that makes another object of its own's class, called with a class: it makes one of the metaclass.
import collections
class Plain:
    pass
escaped = collections.Counter.copy(Plain).__name__ == "type"

#: lie-class-as-object-of-property
#: The same with the getter of a property.
import collections
class Plain:
    pass
Plain.maps = [0, Plain]
escaped = collections.ChainMap.parents.fget(Plain).__name__ == "type"

#: lie-calendar-spacing
#: A number whose product with a blank is no text: calendar asks it to join the months, with a generator of its own.
import calendar
class Space:
    def __gt__(self, other):
        return True
    def __mul__(self, other):
        return self
    def __radd__(self, other):
        return other
    def join(self, parts):
        global escaped
        escaped = type(parts).__name__ == "generator"
        return ""
escaped = False
calendar.TextCalendar().formatyear(2024, 2, 1, Space())
