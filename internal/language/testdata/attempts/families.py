# Variants of six families: (a) library code that asks an object for its class, (b) classes of the library with
# parts that are the script's, (c) containers of the library that are handed out, (d) answers with two faces,
# (e) generated code with names of the script's, (f) objects that speak when an exception is looked at.

#: family-a-counter-copy
#: Counter.copy asks a class for its class, and calls that: the real type comes back, and makes classes.
import collections
class Plain:
    pass
kind = collections.Counter.copy(Plain)
escaped = kind("Made", (), {"x": 1}).x == 1

#: family-a-userlist-copy
#: The same by UserList.copy.
import collections
class Plain:
    pass
kind = collections.UserList.copy(Plain)
escaped = kind("Made", (), {"x": 1}).x == 1

#: family-a-userstring-method
#: A method of UserString makes an object of the class of its first argument, which is a class.
import collections
class Text:
    def capitalize(self):
        return Text
class Plain:
    data = Text()
kind = collections.UserString.capitalize(Plain)
escaped = kind("Made", (), {"x": 1}).x == 1

#: family-a-userlist-add
#: So does UserList.__add__, by way of its data.
import collections
class Data:
    def __add__(self, other):
        return Data
class Plain:
    data = Data()
kind = collections.UserList.__add__(Plain, [])
escaped = kind("Made", (), {"x": 1}).x == 1

#: family-a-chainmap-copy
#: And ChainMap.copy, of a class that has maps.
import collections
class First:
    def copy(self):
        return First
class Plain:
    maps = [First()]
kind = collections.ChainMap.copy(Plain)
escaped = kind("Made", (), {"x": 1}).x == 1

#: family-a-chainmap-parents
#: A property of ChainMap does it for whoever calls its getter.
import collections
class Plain:
    pass
Plain.maps = [0, Plain]
kind = collections.ChainMap.parents.fget(Plain)
escaped = kind("Made", (), {"x": 1}).x == 1

#: family-a-dispatch-call
#: A dispatched function asks its argument for its class, and that for its bases: each subclass of object is compared with them.
import functools
seen = []
class Element:
    def __hash__(self):
        return hash(bytearray)
    def __eq__(self, other):
        seen.append(other)
        return False
class Kind:
    def __getattr__(self, name):
        if name == "__mro__":
            return [Element()]
        if name == "__bases__":
            return (object,)
        raise AttributeError(name)
class Lying:
    def __getattribute__(self, name):
        return Kind() if name == "__class__" else object.__getattribute__(self, name)
@functools.singledispatch
def f(x):
    return None
try:
    f(Lying())
except Exception:
    pass
escaped = bytearray in seen

#: family-a-dispatch-method
#: The same by a dispatched method.
import functools
seen = []
class Element:
    def __hash__(self):
        return hash(bytearray)
    def __eq__(self, other):
        seen.append(other)
        return False
class Kind:
    def __getattr__(self, name):
        if name == "__mro__":
            return [Element()]
        if name == "__bases__":
            return (object,)
        raise AttributeError(name)
class Lying:
    def __getattribute__(self, name):
        return Kind() if name == "__class__" else object.__getattribute__(self, name)
class A:
    @functools.singledispatchmethod
    def f(self, x):
        return None
try:
    A().f(Lying())
except Exception:
    pass
escaped = bytearray in seen

#: family-a-fields-of-an-instance
#: dataclasses.fields believes a table of fields that an object answers with.
import dataclasses
@dataclasses.dataclass
class Real:
    a: int = 1
real = dataclasses.fields(Real)[0]
class Lying:
    def __getattr__(self, name):
        if name == "__dataclass_fields__":
            return {"a": real}
        raise AttributeError(name)
escaped = dataclasses.fields(Lying()) == (real,)

#: family-b-printer-stream
#: A subclass of PrettyPrinter reads its private stream: standard output, whose class opens files.
import pprint
class Printer(pprint.PrettyPrinter):
    pass
stream = Printer()._stream.buffer
file = type(stream.raw if hasattr(stream, "raw") else stream)("/dev/null")
escaped = file.read(1) == b""

#: family-b-printer-safe-repr
#: A private method of a printer is the script's, and gets the context that the library keeps of a print.
import pprint
seen = []
class Printer(pprint.PrettyPrinter):
    def _repr(self, object, context, level):
        seen.append(context)
        return "x"
Printer().pformat([1])
escaped = type(seen[0]) is dict

#: family-b-printer-dispatch
#: A printer's table of its methods is read through a subclass.
import pprint
class Printer(pprint.PrettyPrinter):
    pass
escaped = dict.__repr__ in Printer._dispatch

#: family-b-printer-quiet
#: A first base with an __init_subclass__ of its own, and then the printer.
import pprint
seen = []
class Quiet:
    def __init_subclass__(cls, **options):
        pass
class Printer(Quiet, pprint.PrettyPrinter):
    def _format_items(self, items, stream, *rest):
        seen.append(stream)
Printer(width=1).pprint([1, 2])
escaped = type(seen[0]).__name__ == "TextIOWrapper"

#: family-b-field-quiet
#: A first base hides that a field cannot be a base, and a method of the field's becomes the script's.
import dataclasses
seen = []
class Quiet:
    def __init_subclass__(cls, **options):
        pass
class Field(Quiet, type(dataclasses.field())):
    def __set_name__(self, owner, name):
        seen.append(owner)
escaped = issubclass(Field, type(dataclasses.field()))

#: family-b-enum-member-map
#: A classmethod of an enumeration of the script's reads the private table of all members.
import enum
class Colour(enum.Enum):
    RED = 1
    @classmethod
    def table(cls):
        return cls._member_map_
Colour.table()["BLUE"] = Colour.RED
escaped = Colour["BLUE"] is Colour.RED

#: family-b-enum-value-table
#: The same with the table of values, in a method that the library calls.
import enum
class Colour(enum.Enum):
    RED = 1
    @classmethod
    def _missing_(cls, value):
        return cls._value2member_map_[1]
escaped = Colour(2) is Colour.RED

#: family-b-calendar-month
#: A method of a calendar that is the script's gets the months of the library, whose class is not for scripts.
#: since 3.12
import calendar
seen = []
class Own(calendar.Calendar):
    def monthdayscalendar(self, year, month):
        seen.append(type(month))
        return []
Own().yeardayscalendar(2000)
escaped = seen[0] is not calendar.Month or seen[0]._member_map_ is calendar.Month._member_map_

#: family-b-encoder-markers
#: A private parameter of an encoder's method is asked for what the library keeps.
import json
class Encoder(json.JSONEncoder):
    def iterencode(self, o, _one_shot=False):
        escapes = super().iterencode.__func__.__globals__
        return iter([str(len(escapes))])
escaped = int(Encoder().encode([1])) > 3

#: family-c-wraps-namespace
#: A wrapper without a __dict__ answers with a spy, which is handed the namespace of a class.
import functools
seen = []
class Catch:
    def update(self, other):
        seen.append(other)
class Wrapper:
    __slots__ = ()
    def __getattr__(self, name):
        return Catch()
    def __setattr__(self, name, value):
        pass
class Plain:
    pass
functools.wraps(Plain)(Wrapper())
escaped = "__weakref__" in seen[0]

#: family-c-empty-metadata
#: The view of a field's metadata joins with a spy, which is handed the dict that all fields share.
#: since 3.9
import dataclasses
class Catch(dict):
    def __ror__(self, other):
        other["planted"] = 1
        return self
dataclasses.field().metadata | Catch()
escaped = dataclasses.field().metadata["planted"] == 1

#: family-c-field-defaults
#: A named tuple of the library shows its defaults, which are a dict that everybody gets.
import decimal
decimal.DecimalTuple._field_defaults["planted"] = 1
escaped = decimal.DecimalTuple._field_defaults.get("planted") == 1

#: family-c-field-defaults-matched
#: The same through a pattern.
#: since 3.10
import decimal
match decimal.Decimal(1).as_tuple():
    case decimal.DecimalTuple(_field_defaults=found):
        found["planted"] = 1
escaped = decimal.DecimalTuple._field_defaults.get("planted") == 1

#: family-c-members-compared
#: The view of an enumeration's members is compared with a spy, which is handed the table itself.
import enum
class Colour(enum.Enum):
    RED = 1
class Catch:
    def __eq__(self, other):
        other["BLUE"] = Colour.RED
        return True
Colour.__members__ == Catch()
escaped = Colour["BLUE"] is Colour.RED

#: family-c-registry-joined
#: The view of a dispatcher's registry joins with a spy, and a function for all objects is planted.
#: since 3.9
import functools
@functools.singledispatch
def f(x):
    return "own"
class Catch(dict):
    def __ror__(self, other):
        other[int] = lambda x: "planted"
        return self
f.registry | Catch()
escaped = f(1) == "planted"

#: family-c-reduce-by-getattribute
#: deepcopy asks an object how it is made anew, and calls what it answers with.
import copy
class Lying:
    def __getattribute__(self, name):
        if name == "__reduce_ex__":
            return lambda protocol: (str, ("planted",))
        return object.__getattribute__(self, name)
escaped = copy.deepcopy(Lying()) == "planted"

#: family-c-reduce-state
#: What deepcopy has made anew is asked for its __dict__, and is handed the state to put into it.
import copy
seen = []
class Catch:
    def update(self, other):
        seen.append(other)
class Made:
    def __getattribute__(self, name):
        return Catch() if name == "__dict__" else object.__getattribute__(self, name)
class Lying:
    def __getattribute__(self, name):
        if name == "__reduce_ex__":
            return lambda protocol: (Made, (), {"a": 1})
        return object.__getattribute__(self, name)
copy.deepcopy(Lying())
escaped = seen == [{"a": 1}]

#: family-d-entries-printer
#: An object answers __mro_entries__ with a class of the library, which so becomes a base unseen.
import pprint
class Base:
    asked = 0
    def __getattr__(self, name):
        if name == "__mro_entries__":
            return self.entries
        raise AttributeError(name)
    def entries(self, bases):
        Base.asked += 1
        return (object,) if Base.asked == 1 else (pprint.PrettyPrinter,)
class First(Base()):
    pass
class Second(Base()):
    pass
stream = Second()._stream.buffer
file = type(stream.raw if hasattr(stream, "raw") else stream)("/dev/null")
escaped = file.read(1) == b""

#: family-d-base-is-called
#: A base that is no class: its class is called in place of a metaclass, with the namespace of the body.
seen = []
class Maker:
    def __init__(self, *args):
        seen.append(args)
class K(Maker()):
    inside = 1
escaped = seen[-1][2]["inside"] == 1

#: family-d-slots-twice
#: __slots__ answers with other names the second time.
class Names:
    asked = 0
    def __iter__(self):
        Names.asked += 1
        return iter(("a",) if Names.asked == 9 else ("__wrapped__",))
class A:
    __slots__ = Names()
a = A()
object.__setattr__(a, "__wrapped__", 5)
escaped = object.__getattribute__(a, "__wrapped__") == 5

#: family-d-wrapped-name
#: wraps gives a function of the script's the name that an object answers with, which is none.
import functools
asked = []
class Lying:
    def __getattr__(self, name):
        asked.append(name)
        if name == "__dict__":
            return {"planted": 1}
        raise AttributeError(name)
    def __call__(self):
        pass
@functools.wraps(Lying())
def f():
    pass
escaped = "__qualname__" in asked

#: family-e-dataclass-order
#: A field whose default says that it is a field: its name becomes a part of a comparison that is generated.
import dataclasses
Field = type(dataclasses.field())
seen = []
class Lying:
    default = default_factory = dataclasses.MISSING
    init = repr = kw_only = False
    hash, compare, doc, metadata = None, True, None, {}
    def __getattribute__(self, name):
        if name == "__class__":
            return Field
        if name == "name":
            return "x,self.seen.append(self.__init__.__globals__)"
        return object.__getattribute__(self, name)
class X:
    a: int = Lying()
    x, seen = 1, seen
    def __init__(self):
        pass
dataclasses.dataclass(init=False, repr=False, eq=True, order=True)(X)
X() < X()
escaped = "escaped" not in seen[0] and "Lying" in seen[0]

#: family-e-builtins-field
#: A field has a name that the code of @dataclass uses for itself.
#: until 3.9
import dataclasses
seen = []
class Spy:
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError(name)
@dataclasses.dataclass(frozen=True)
class X:
    BUILTINS: object
try:
    X(Spy())
except AttributeError:
    pass
escaped = "object" in seen

#: family-e-default-text
#: The representation of an annotation is a part of the text of a signature.
import dataclasses
seen = []
class Kind:
    def __repr__(self):
        seen.append(1)
        return "x"
class X:
    a: Kind() = 1
dataclasses.dataclass(X)
X.__doc__
escaped = len(seen) > 0

#: family-f-exception-speaks
#: What looks at an exception asks it for its parts; a chain of it is the script's own object.
seen = []
class Part(Exception):
    def __getattribute__(self, name):
        seen.append(name)
        return object.__getattribute__(self, name)
def fail():
    try:
        raise Part("inner")
    except Part as e:
        raise ValueError("outer") from e
try:
    fail()
except ValueError as e:
    e.__cause__.__traceback__
escaped = "__traceback__" in seen
