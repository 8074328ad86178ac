#: helper-attrgetter
#: operator.attrgetter reads a dunder.
import operator
escaped = "<module 'builtins'" in str(operator.attrgetter("__self__")(print))

#: helper-attrgetter-dotted
#: One dotted name walks the whole chain.
import operator
def f():
    pass
escaped = operator.attrgetter("__globals__")(f)["f"] is f and operator.attrgetter("__class__.__base__")(f) is object

#: helper-attrgetter-many
#: The forbidden name is the second of several.
import operator
escaped = "<module 'builtins'" in str(operator.attrgetter("__name__", "__self__")(print)[1])

#: helper-attrgetter-frame
#: A name without underscores in front.
import operator
escaped = type(operator.attrgetter("gi_frame")(i for i in "a")).__name__ == "frame"

#: helper-attrgetter-str-subclass
#: The name is a string whose class lies about its text.
import operator
class Name(str):
    def startswith(self, *args):
        return False
    def split(self, *args):
        return ["real"]
    def __contains__(self, other):
        return False
    def __str__(self):
        return "real"
escaped = "<module 'builtins'" in str(operator.attrgetter(Name("__self__"))(print))

#: helper-attrgetter-by-copy
#: copy rebuilds an attrgetter from its type and a name.
import copy, operator
class A:
    def __reduce__(self):
        return type(operator.attrgetter("real")), ("__self__",)
escaped = "<module 'builtins'" in str(copy.copy(A())(print))

#: helper-methodcaller
#: operator.methodcaller calls a dunder method.
import operator
escaped = len(operator.methodcaller("__subclasses__")(object)) > 50

#: helper-methodcaller-getattribute
#: operator.methodcaller calls the attribute function of an object.
import operator
escaped = "<module 'builtins'" in str(operator.methodcaller("__getattribute__", "__self__")(print))

#: helper-methodcaller-get-field
#: operator.methodcaller calls a method of a formatter that returns live objects.
import operator, string
escaped = "<module 'builtins'" in str(operator.methodcaller("get_field", "0.__self__", (print,), {})(string.Formatter())[0])

#: helper-update-wrapper-captures
#: functools.update_wrapper reads attributes by name and an own __setattr__ catches them.
import functools
box = {}
class W:
    def __setattr__(self, name, value):
        box[name] = value
functools.update_wrapper(W(), functools.total_ordering, assigned=("__globals__",), updated=())
escaped = "RLock" in box["__globals__"]

#: helper-wraps-captures
#: functools.wraps does the same as a decorator.
import functools
box = {}
class W:
    def __init__(self, f):
        pass
    def __setattr__(self, name, value):
        box[name] = value
class Wrap(W):
    pass
functools.wraps(print, assigned=["__self__"], updated=[])(Wrap(0))
escaped = "<module 'builtins'" in str(box["__self__"])

#: helper-update-wrapper-frame
#: update_wrapper reads a frame by name and an own __setattr__ catches it.
import functools
box = {}
class W:
    def __setattr__(self, name, value):
        box[name] = value
functools.update_wrapper(W(), (i for i in "a"), assigned=["gi_frame"], updated=[])
escaped = type(box["gi_frame"]).__name__ == "frame"

#: helper-update-wrapper-updated
#: The updated list of update_wrapper merges a namespace into an own mapping.
import functools
box = []
class Merge:
    def update(self, other):
        box.append(other)
class W:
    def __getattr__(self, name):
        return Merge()
def f():
    pass
functools.update_wrapper(W(), f, assigned=(), updated=("__globals__",))
escaped = box[0]["f"] is f

#: helper-update-wrapper-writes-globals
#: The updated list of update_wrapper writes into the global variables of a library function.
import functools, textwrap
class Give:
    def __getattr__(self, name):
        return {"_whitespace_only_re": None, "planted": 42}
functools.update_wrapper(textwrap.dedent, Give(), assigned=(), updated=("__globals__",))
try:
    textwrap.dedent(" a\n")
except AttributeError as e:
    escaped = "NoneType" in str(e)

#: helper-update-wrapper-writes-code
#: update_wrapper gives a library function the code of an own function.
import functools, textwrap
def own(text):
    return "planted"
functools.update_wrapper(textwrap.dedent, own, assigned=("__code__",), updated=())
escaped = textwrap.dedent("x") == "planted"

#: helper-partial-getattribute
#: functools.partial holds the attribute function of object.
import functools
read = functools.partial(object.__getattribute__, print)
escaped = "<module 'builtins'" in str(read("__self__"))

#: helper-reduce-attributes
#: functools.reduce folds an attribute function over names.
import functools
escaped = len(functools.reduce(lambda o, n: type.__getattribute__(o, n), ["__base__", "__subclasses__"], int)()) > 50

#: helper-cached-property-writes
#: functools.cached_property writes into the namespace of the object it is asked for.
import functools, random
class A:
    planted = functools.cached_property(lambda self: 42)
A.planted.__get__(random, None)
escaped = random.planted == 42

#: helper-cached-property-methodcaller
#: The same without a dunder in the source.
import functools, operator, random
class A:
    planted = functools.cached_property(lambda self: 42)
operator.methodcaller("_" * 2 + "get" + "_" * 2, random, None)(A.planted)
escaped = random.planted == 42

#: helper-copy-slot-state
#: copy sets attributes by name on any object that a fake reduction names.
import copy, textwrap
class A:
    def __reduce_ex__(self, protocol):
        return (lambda: textwrap.TextWrapper), (), (None, {"planted": 42})
copy.copy(A())
escaped = textwrap.TextWrapper.planted == 42

#: helper-copy-slot-state-code
#: copy sets the code of a library function to that of an own one.
import copy, operator, textwrap
def own(text):
    return "planted"
class A:
    def __reduce_ex__(self, protocol):
        return (lambda: textwrap.dedent), (), (None, {"__code__": operator.attrgetter("__code__")(own)})
copy.copy(A())
escaped = textwrap.dedent("x") == "planted"

#: helper-copy-dict-state
#: copy updates the namespace of any object that a fake reduction names.
import copy, random
class A:
    def __reduce_ex__(self, protocol):
        return (lambda: random), (), {"planted": 42}
copy.copy(A())
escaped = random.planted == 42

#: helper-copy-dict-state-function
#: copy updates the namespace of a library function.
import copy, textwrap
class A:
    def __reduce__(self):
        return (lambda: textwrap.dedent), (), {"planted": 42}
copy.deepcopy(A())
escaped = textwrap.dedent.planted == 42

#: helper-copy-setstate
#: copy calls __setstate__ of a shared object.
import copy, json
class A:
    def __reduce__(self):
        return (lambda: json._default_encoder), (), {"item_separator": ";"}
copy.copy(A())
escaped = json.dumps([1, 2]) == "[1;2]"

#: helper-copy-list-items
#: copy extends a shared list by the fourth part of a fake reduction.
import calendar, copy
class A:
    def __reduce__(self):
        return (lambda: calendar.mdays), (), None, iter([99])
copy.copy(A())
escaped = calendar.mdays[-1] == 99

#: helper-copy-dict-items
#: copy fills a shared dict by the fifth part of a fake reduction.
import copy, textwrap
class A:
    def __reduce__(self):
        return (lambda: textwrap.TextWrapper.unicode_whitespace_trans), (), None, None, iter([(ord("a"), "b")])
copy.copy(A())
escaped = textwrap.fill("a a") == "b b"

#: helper-copy-class-lies
#: copy asks the class of an object, which is faked by __class__.
import copy
class A:
    @property
    def __class__(self):
        return list
    def __reduce_ex__(self, protocol):
        return type, ("X", (), {"flag": 42})
escaped = copy.copy(A()).flag == 42

#: helper-copy-dispatch-table
#: The table of copy functions is changed for everybody.
import copy
class A:
    pass
copy.dispatch_table[A] = lambda a: (type, ("X", (), {"flag": 42}))
escaped = copy.copy(A()).flag == 42

#: helper-deepcopy-dispatch
#: The private table of deepcopy is changed for everybody.
import copy
copy._deepcopy_dispatch[int] = lambda x, memo: 42
escaped = copy.deepcopy([1]) == [42]

#: helper-enum-convert
#: The private constructor of enums reads any name of any module by string.
import enum
E = enum.Enum._convert_("E", "enum", lambda name: name == "sys")
escaped = "module 'sys'" in str(E.sys.value)

#: helper-enum-global
#: enum.global_enum writes members into the module that the class says it is from.
#: since 3.11
import calendar, enum
E = enum.IntEnum("E", {"February": 3, "FEBRUARY": 3}, module="calendar")
enum.global_enum(E)
escaped = calendar.monthrange(2024, 3)[1] == 32

#: helper-enum-global-through-calendar
#: calendar exposes the same function.
#: since 3.12
import calendar, enum
E = enum.IntEnum("E", {"February": 3, "FEBRUARY": 3}, module="calendar")
calendar.global_enum(E)
escaped = calendar.monthrange(2024, 3)[1] == 32

#: helper-enum-convert-writes
#: The private constructor of enums writes its members into the named module.
import calendar, enum
class Source:
    February = 3
    FEBRUARY = 3
enum.IntEnum._convert_("E", "calendar", lambda name: name[0] == "F", source=Source)
escaped = calendar.monthrange(2024, 3)[1] == 32

#: helper-enum-dict
#: The private namespace of enums is made and filled by hand.
import enum
space = enum._EnumDict()
space._cls_name = "X"
space["A"] = 42
X = type(enum.Enum)("X", (enum.Enum,), space)
escaped = X.A.value == 42

#: helper-mappingproxy-eq
#: A read-only mapping hands its dict to the __eq__ of the other side, here the shared empty metadata.
import dataclasses
class Catch:
    def __eq__(self, other):
        other["planted"] = 42
        return True
dataclasses.field().metadata == Catch()
escaped = dataclasses.field().metadata.get("planted") == 42

#: helper-mappingproxy-or
#: A read-only mapping hands its dict to the __ror__ of the other side.
import dataclasses
class Catch:
    def __ror__(self, other):
        other["planted"] = 42
dataclasses.field().metadata | Catch()
escaped = dataclasses.field().metadata.get("planted") == 42

#: helper-mappingproxy-regex
#: The groups of a cached pattern are changed through its read-only mapping.
import re
class Catch:
    def __eq__(self, other):
        other["a"] = 2
        return True
re.compile("(?P<a>x)(y)").groupindex == Catch()
escaped = re.compile("(?P<a>x)(y)").match("xy")["a"] == "y"

#: helper-mappingproxy-enum
#: The members of a library enum are changed through their read-only mapping.
import re
class Catch:
    def __ror__(self, other):
        other["PLANTED"] = 42
re.RegexFlag.__members__ | Catch()
escaped = re.RegexFlag["PLANTED"] == 42

#: helper-typing-alias-setattr
#: Assigning to a typing alias sets the attribute on the class behind it.
import collections, typing
typing.Counter.planted = 42
escaped = collections.Counter.planted == 42

#: helper-typing-alias-subscripted-setattr
#: The subscripted alias forwards too.
import collections, typing
typing.ChainMap[int, int].new_child = lambda self: 42
escaped = collections.ChainMap().new_child() == 42

#: helper-typing-no-type-check
#: A typing decorator writes a dunder onto a library function, seen by copying its namespace.
import copy, functools, textwrap, typing
class W:
    def __setstate__(self, state):
        self.seen = str(state)
typing.no_type_check(textwrap.dedent)
w = functools.update_wrapper(W(), textwrap.dedent, assigned=())
escaped = "no_type_check" in copy.copy(w).seen

#: helper-typing-final
#: typing.final writes a dunder onto a library function, seen by copying its namespace.
#: since 3.11
import copy, functools, textwrap, typing
class W:
    def __setstate__(self, state):
        self.seen = str(state)
typing.final(textwrap.dedent)
w = functools.update_wrapper(W(), textwrap.dedent, assigned=())
escaped = "final" in copy.copy(w).seen

#: helper-typing-dataclass-transform
#: typing.dataclass_transform writes a dunder onto a library function, seen by copying its namespace.
#: since 3.11
import copy, functools, textwrap, typing
class W:
    def __setstate__(self, state):
        self.seen = str(state)
typing.dataclass_transform()(textwrap.dedent)
w = functools.update_wrapper(W(), textwrap.dedent, assigned=())
escaped = "eq_default" in copy.copy(w).seen

#: helper-dataclass-on-library-eq
#: The dataclass decorator gives a library class another equality.
import dataclasses, textwrap
before = textwrap.TextWrapper() == textwrap.TextWrapper()
dataclasses.dataclass(init=False)(textwrap.TextWrapper)
escaped = not before and textwrap.TextWrapper() == textwrap.TextWrapper()

#: helper-abc-register
#: An abstract class of the library takes in a built-in type for everybody.
import collections.abc
collections.abc.Mapping.register(int)
escaped = isinstance(1, collections.abc.Mapping)

#: helper-abc-registry-clear
#: The registry of an abstract class of the library is emptied for everybody.
import collections.abc
collections.abc.Sequence._abc_registry_clear()
collections.abc.Sequence._abc_caches_clear()
escaped = not isinstance("text", collections.abc.Sequence)

#: helper-singledispatchmethod-dispatcher
#: The dispatcher of a method is a library function with the global variables of functools.
import functools
m = functools.singledispatchmethod(lambda self, x: 1)
escaped = "RLock" in m.dispatcher.register.__globals__

#: helper-json-decoder-functions
#: A decoder object carries library functions that lead to their module.
import json
d = json.JSONDecoder()
escaped = "FLAGS" in d.parse_object.__globals__

#: helper-json-decoder-constants
#: A decoder object carries a bound method of a shared dict.
import json
d = json.JSONDecoder()
d.parse_constant.__self__["NaN"] = 42
escaped = json.loads("NaN", cls=json.JSONDecoder) == 42

#: helper-pprint-subclass
#: A printer subclass is handed the live attribute that a renamed dataclass field names.
#: since 3.10
import dataclasses, pprint
@dataclasses.dataclass
class A:
    x: int = 0
box = []
class P(pprint.PrettyPrinter):
    def _format(self, object, *args):
        box.append(object)
        if len(box) == 1:
            super()._format(object, *args)
dataclasses.fields(A)[0].name = "__dict__"
P(width=1).pformat(A())
escaped = box[1:] == [{"x": 0}]

#: helper-pprint-dispatch
#: The private dispatch table of the printer is changed for everybody.
import pprint
for key in list(pprint.PrettyPrinter._dispatch):
    pprint.PrettyPrinter._dispatch[key] = lambda self, object, stream, *args: stream.write("planted")
escaped = pprint.pformat(list(range(99))) == "planted"

#: helper-dataclass-astuple-dunder
#: A renamed dataclass field makes astuple read a dunder of an object.
import dataclasses
@dataclasses.dataclass
class A:
    x: int = 7
dataclasses.fields(A)[0].name = "__dict__"
escaped = dataclasses.astuple(A()) == ({"x": 7},)

#: helper-dataclass-field-is-dunder
#: A dataclass field that is called like a dunder from the start.
import dataclasses
A = dataclasses.make_dataclass("A", ["__class__"], init=False, repr=False, eq=False, namespace={"__doc__": "x"})
escaped = dataclasses.astuple(A())[0] is A

#: helper-hashlib-private-cache
#: The cache of hash constructors is changed for everybody.
import hashlib
hashlib.__builtin_constructor_cache["planted"] = lambda data, **kw: 42
escaped = hashlib.__get_builtin_constructor("planted")(b"") == 42

#: helper-setitem
#: operator.setitem changes a shared table.
import operator, calendar
operator.setitem(calendar.mdays, 1, 99)
escaped = calendar.monthrange(2023, 1)[1] == 99

#: helper-iconcat
#: operator.iconcat extends a shared list.
import operator, calendar
operator.iconcat(calendar.mdays, [99])
escaped = calendar.mdays[-1] == 99

#: helper-itertools-starmap-attribute
#: itertools.starmap calls the attribute function of object.
import itertools
escaped = "<module 'builtins'" in str(list(itertools.starmap(object.__getattribute__, [(print, "__self__")]))[0])

#: helper-map-attribute
#: map calls the attribute function of object.
escaped = "<module 'builtins'" in str(list(map(object.__getattribute__, [print], ["__self__"]))[0])

#: helper-filter-format
#: filter calls the bound method of a format string, one that fails tells what was there.
keep = list(filter("{0.__self__.open}".format, [print]))
escaped = len(keep) == 1

#: helper-cmp-to-key
#: The key object of cmp_to_key calls an attribute function for two objects.
import functools
box = []
def compare(a, b):
    box.append(object.__getattribute__(a, b))
    return 0
functools.cmp_to_key(compare)(print) < functools.cmp_to_key(compare)("__self__")
escaped = "<module 'builtins'" in str(box[0])

#: helper-random-shared-generator
#: The shared random generator is reached by its private name.
import random
escaped = "Random object" in str(random._inst)

#: helper-decimal-context-traps
#: The template of all decimal contexts is changed through its table of traps.
import decimal
decimal.DefaultContext.traps[decimal.DivisionByZero] = False
escaped = decimal.Context().divide(decimal.Decimal(1), decimal.Decimal(0)).is_infinite()

#: helper-dataclass-freezes-library
#: The dataclass decorator makes a library class refuse every assignment.
import dataclasses, textwrap
dataclasses.dataclass(frozen=True, init=False)(textwrap.TextWrapper)
try:
    textwrap.fill("x")
except AttributeError as e:
    escaped = "cannot assign" in str(e)

#: helper-typing-overload
#: typing.overload files functions into a table that outlives the script, under a name the script chooses.
#: since 3.11
import textwrap, typing
typing.overload(textwrap.dedent)
escaped = typing.get_overloads(textwrap.dedent) == [textwrap.dedent]

#: helper-generic-alias-over-module
#: A generic alias made over a module forwards to its private names.
import random
alias = type(list[int])(random, int)
escaped = "module 'os'" in str(alias._os)

#: helper-generic-alias-over-class-setattr
#: A typing alias made over a library class forwards an assignment to it.
import textwrap, typing
alias = typing.Annotated[textwrap.TextWrapper, 0]
alias.planted = 42
escaped = textwrap.TextWrapper.planted == 42
