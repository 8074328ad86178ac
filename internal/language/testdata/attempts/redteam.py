#: red-annotation-text
#: object.__getattribute__ gives the real annotations of a class, and @dataclass executes the text of their names.
import dataclasses
class X:
    x: int = 1
    seen = []
object.__getattribute__(X, "__annotations__")["x,self.seen.append(().__class__)"] = int
dataclasses.dataclass(init=False, repr=False)(X)
X.__eq__(X(), X())
escaped = X.seen[0] is tuple

#: red-getattribute-of-getattribute
#: object.__getattribute__ fetches the method that fetches any attribute.
def f():
    pass
escaped = "escaped" not in object.__getattribute__(f, "__getattribute__")("__globals__")

#: red-setattr-of-class
#: object.__getattribute__ fetches type.__setattr__, which gives a class what its pattern reads.
#: since 3.10
from collections.abc import Sized
class H(Sized):
    @classmethod
    def __subclasshook__(cls, other):
        return True
def f():
    pass
object.__getattribute__(H, "__setattr__")("__match_args__", ("__globals__",))
match f:
    case H(found):
        escaped = "Sized" in found

#: red-match-args-descriptor
#: __match_args__ is a descriptor: it shows the guard nothing, and the interpreter a dunder.
#: since 3.10
from collections.abc import Sized
class Lying:
    def __iter__(self):
        return iter(())
    def __get__(self, thing, owner):
        return ("__globals__",)
class H(Sized):
    __match_args__: object = Lying()
    @classmethod
    def __subclasshook__(cls, other):
        return True
def f():
    pass
match f:
    case H(found):
        escaped = "Sized" in found

#: red-match-args-loop
#: __match_args__ is bound by a loop, and the class is used before its guard can refuse it.
#: since 3.10
from collections.abc import Sized
def f():
    pass
found = []
class Base(Sized):
    def __init_subclass__(cls):
        match f:
            case cls(x):
                found.append(x)
    @classmethod
    def __subclasshook__(cls, other):
        return True
try:
    class H(Base):
        for __match_args__ in [("__globals__",)]:
            pass
except Exception:
    pass
escaped = "Sized" in found[0]

#: red-match-namedtuple-base
#: The names of a named tuple are what a class pattern reads, before the class is refused.
#: since 3.10
from collections import namedtuple
from collections.abc import Sized
found = []
class Base(Sized):
    def __init_subclass__(cls):
        match go():
            case cls(x):
                found.append(x)
    @classmethod
    def __subclasshook__(cls, other):
        return True
def go():
    yield
try:
    class H(namedtuple("N", "gi_code"), Base):
        pass
except Exception:
    pass
escaped = len(found) == 1

#: red-match-dataclass-fields
#: The class keeps the fields for which @dataclass was refused.
#: since 3.10
from collections.abc import Sized
from dataclasses import dataclass
def go():
    yield
class H(Sized):
    gi_code: int = 0
    @classmethod
    def __subclasshook__(cls, other):
        return True
try:
    dataclass(H)
except Exception:
    pass
match go():
    case H(found):
        escaped = "code object" in str(found)

#: red-field-subclass
#: A field that says its name is an expression: @dataclass executes it.
import dataclasses
class Lying(type(dataclasses.field())):
    @property
    def name(self):
        return "x,self.seen.append(().__class__)"
    @name.setter
    def name(self, value):
        pass
    def __init__(self):
        self.default = self.default_factory = dataclasses.MISSING
        self.init = self.repr = self.kw_only = False
        self.hash, self.compare, self.doc = None, True, None
class X:
    a: int = Lying()
    x, seen = 1, []
dataclasses.dataclass(init=False, repr=False)(X)
X.__eq__(X(), X())
escaped = X.seen[0] is tuple

#: red-typeddict-text
#: The keys of a TypedDict are any strings, and fields for @dataclass.
#: since 3.11
import dataclasses
import typing
class Seen:
    x, seen = 1, []
T = typing.TypedDict("T", {"x,self.seen.append(().__class__)": int})
dataclasses.dataclass(init=False, repr=False)(T)
T.__eq__(Seen(), Seen())
escaped = Seen.seen[0] is tuple

#: red-enum-dunder-member
#: The functional form of Enum puts any name into a class: the annotations of one for @dataclass.
import dataclasses
import enum
class Seen:
    x, seen = 1, []
E = enum.Enum("E", {"__annotations__": {"x,self.seen.append(().__class__)": int}})
dataclasses.dataclass(init=False, repr=False)(E)
E.__eq__(Seen(), Seen())
escaped = Seen.seen[0] is tuple

#: red-enum-property
#: A subclass of enum.property says where it looks its name up, and is told a dunder.
#: since 3.12
import enum
def f():
    pass
class P(enum.property):
    _attr_type = "attr"
P._cls_type = f
p = P()
class C:
    x = p
p.__set_name__(C, "__globals__")
escaped = "enum" in C().x

#: red-alias-subclass
#: A subclass of the generic alias passes on a private attribute: Enum takes its members from any module.
import enum
class Alias(type(list[int])):
    pass
X = Alias(enum.Enum, int)._convert_("X", "posix", lambda name: name == "getpid")
escaped = X.getpid.value() > 0

#: red-super-subclass
#: A subclass of super passes on a private method.
import string
class Super(super):
    pass
class F(string.Formatter):
    pass
escaped = callable(Super(F, F())._vformat)

#: red-typing-root
#: A generic alias of typing sets the attributes of the class behind it.
import json
import typing
class Alias(type(typing.List[int]), _root=True):
    pass
alias = Alias(json.JSONEncoder, (int,))
alias.encode = lambda self, thing: "changed"
escaped = json.JSONEncoder().encode(1) == "changed"

#: red-forward-reference
#: A forward reference evaluates its text.
#: since 3.14
import typing
reference = typing.get_args(typing.List["().__class__"])[0]
escaped = reference.evaluate(globals={}) is tuple

#: red-dispatch-annotations
#: An object denies its annotations at first: then functools evaluates their text.
#: until 3.13
import functools
seen = []
class Lying:
    asked = 0
    def __getattr__(self, name):
        if name == "__annotations__":
            self.asked += 1
            if self.asked == 1 and guarded:
                raise AttributeError(name)
            return {"x": "hit(().__class__)"}
        if name == "__globals__":
            return {"hit": hit}
        raise AttributeError(name)
    def __call__(self):
        pass
def hit(found):
    seen.append(found)
    return int
@functools.singledispatch
def f(x):
    pass
for guarded in False, True:
    try:
        f.register(Lying())
    except Exception:
        pass
escaped = bool(seen) and seen[0] is tuple

#: red-copy-slots
#: copy sets any attribute of what it takes for a copy: a class that is matched.
#: since 3.10
import copy
from collections.abc import Sized
class H(Sized):
    @classmethod
    def __subclasshook__(cls, other):
        return True
class Silent(dict):
    def __iter__(self):
        return iter(())
class X:
    def __new__(cls, made=[]):
        if made:
            return H
        made.append(1)
        return object.__new__(cls)
    def __getstate__(self):
        return None, Silent({"__match_args__": ("__globals__",)})
copy.copy(X())
def f():
    pass
match f:
    case H(found):
        escaped = "Sized" in found

#: red-copy-by-asdict
#: The same, by a module that uses copy on its own.
#: since 3.10
import dataclasses
from collections.abc import Sized
class H(Sized):
    @classmethod
    def __subclasshook__(cls, other):
        return True
class X:
    def __new__(cls, made=[]):
        if made:
            return H
        made.append(1)
        return object.__new__(cls)
    def __getstate__(self):
        return None, {"__match_args__": ("__globals__",)}
@dataclasses.dataclass
class D:
    x: object
dataclasses.asdict(D(X()))
def f():
    pass
match f:
    case H(found):
        escaped = "Sized" in found

#: red-copy-by-userdict
#: The same, by a method that uses copy on its own.
#: since 3.11
from collections import UserDict
from collections.abc import Sized
class H(Sized):
    @classmethod
    def __subclasshook__(cls, other):
        return True
class P(UserDict):
    __copy__ = None
    def __new__(cls, made=[]):
        if made:
            return H
        made.append(1)
        return object.__new__(cls)
    def __getstate__(self):
        return None, {"__match_args__": ("__globals__",)}
try:
    P().copy()
except AttributeError:
    pass
def f():
    pass
match f:
    case H(found):
        escaped = "Sized" in found

#: red-userdict-copy-module
#: UserDict.__copy__ writes into whatever __new__ gives back: a module.
import math
from collections import UserDict
class P(UserDict):
    def __new__(cls, made=[]):
        if made:
            return math
        made.append(1)
        return object.__new__(cls)
p = P()
p.added = 1
p.__copy__()
escaped = math.added == 1

#: red-deepcopy-memo
#: The memo of deepcopy holds the generator that all share.
#: until 3.13
import copy
import random
memo = {}
copy.deepcopy(random.randint, memo)
shared = [x for kept in memo.values() if isinstance(kept, list) for x in kept if isinstance(x, random.Random)]
shared[0].randrange = lambda *args: "changed"
escaped = random.randint(1, 2) == "changed"

#: red-metaclass-keyword
#: A keyword becomes 'metaclass' after the guard has looked: its __prepare__ answers for the guards' names.
class Key(str):
    asked = 0
    def __hash__(self):
        Key.asked += 1
        return hash("metaclass") if Key.asked > first else 1
    def __eq__(self, other):
        return str(self) == str(other)
class Meta:
    def __getattr__(self, name):
        if name == "__prepare__":
            return lambda *args, **keywords: {}
        raise AttributeError(name)
    def __call__(self, name, bases, space, **keywords):
        return "made by a metaclass"
for first in range(8):
    Key.asked = 0
    try:
        class X(**{Key("metaclass"): Meta()}):
            pass
    except Exception:
        continue
    escaped = X == "made by a metaclass"
    if escaped:
        break

#: red-format-userstring
#: A UserString shows the guard another text than the one that is formatted.
from collections import UserString
class Lying(UserString):
    def __str__(self):
        return ""
def f():
    pass
escaped = "UserString" in Lying("{0.__globals__}").format(f)

#: red-view-by-pattern
#: A class pattern reads the view of a compiled pattern's groups, and a comparison shows the dict behind it.
#: since 3.10
import re
class Spy:
    def __eq__(self, other):
        other["added"] = 1
        return True
match re.compile("(?P<red>view-by-pattern)"):
    case re.Pattern(groupindex=view):
        view == Spy()
escaped = "added" in re.compile("(?P<red>view-by-pattern)").groupindex

#: red-view-by-attrgetter
#: The same, by attrgetter.
import operator
import re
class Spy:
    def __eq__(self, other):
        other["added"] = 1
        return True
operator.attrgetter("groupindex")(re.compile("(?P<red>view-by-attrgetter)")) == Spy()
escaped = "added" in re.compile("(?P<red>view-by-attrgetter)").groupindex

#: red-signature-text
#: @dataclass makes a docstring of a signature, whose text inspect evaluates: a constant of any module.
#: since 3.13
import dataclasses
class Lying:
    def __get__(self, thing, owner=None):
        return self
    def __getattr__(self, name):
        if name == "__text_signature__":
            return "(x=os.sep)"
        raise AttributeError(name)
    def __call__(self, *args):
        pass
@dataclasses.dataclass(init=False)
class X:
    __init__ = Lying()
escaped = X.__doc__ == "X(x='/')"

#: red-stream-of-printer
#: A printer holds the real standard output, whose type opens files.
import pprint
stream = pprint.PrettyPrinter(stream=None)._stream
escaped = hasattr(stream, "write")

#: red-init-of-library
#: An initializer of the library sets attributes of whatever it is called with: of its own class.
import json
class Odd:
    pass
json.JSONEncoder.__init__(json.JSONEncoder, default=lambda self, thing=None: "changed")
escaped = json.dumps(Odd()) == '"changed"'

#: red-method-of-library
#: So does a method.
import calendar
import json
calendar.Calendar.setfirstweekday(json.JSONEncoder, 5)
escaped = json.JSONEncoder._firstweekday == 5

#: red-init-of-dataclass
#: So does the initializer that @dataclass writes.
import dataclasses
import json
@dataclasses.dataclass
class X:
    default: object
class Odd:
    pass
X.__init__(json.JSONEncoder, lambda self, thing: "changed")
escaped = json.dumps(Odd()) == '"changed"'

#: red-store-after-swap
#: A default binds a variable of the module: it looks like a local one that a guard has seen.
import json
class Own:
    pass
class Odd:
    pass
def swap():
    global x
    x = json.JSONEncoder
def f(a=(x := Own())):
    x.a = 1
    swap()
    x.default = lambda self, thing: "changed"
f()
escaped = json.dumps(Odd()) == '"changed"'

#: red-store-after-respelling
#: A private variable is bound again by its other name.
import json
class Odd:
    pass
class C:
    def f(self):
        __x = Odd()
        __x.a = 1
        _C__x = json.JSONEncoder
        __x.default = lambda self, thing: "changed"
C().f()
escaped = json.dumps(Odd()) == '"changed"'

#: red-cache-of-patterns
#: A flag that lies about its value leaves a compiled pattern to whoever asks next.
import re
class Zero(int):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 0
re.compile("cache of patterns", Zero(2))
escaped = re.compile("cache of patterns").flags & 2 == 2

#: red-cache-of-flags
#: A number that lies about its value becomes the flag of another.
import re
class Lying(int):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 2 | 8 | 16 | 64
re.RegexFlag(Lying(8 | 16))
escaped = (re.I | re.M | re.S | re.X).value != 2 | 8 | 16 | 64

#: red-cache-of-formats
#: A format of dates that lies about its text is used for another.
from datetime import datetime
class Lying(str):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return hash("%d cache %m %Y")
datetime.strptime("01 cache 02 2003", Lying("%m cache %d %Y"))
escaped = datetime.strptime("01 cache 02 2003", "%d cache %m %Y").month == 1

#: red-annotation-put-together
#: An annotation that fails is put together again as text, with keywords that are none, and evaluated.
#: since 3.14
import dataclasses
seen = []
def hit(found, **keywords):
    seen.append(found)
    return int
class X:
    a: hit(**{"found=().__class__, y": 1})
    b: len(5)
dataclasses.dataclass(X)
escaped = bool(seen) and seen[0] is tuple
