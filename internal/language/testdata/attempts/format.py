#: format-class
#: A replacement field walks to a dunder attribute.
escaped = "{0.__class__}".format(1) == "<class 'int'>"

#: format-globals-secret
#: A field reads a secret out of a function's global variables.
secret = "tango" * 2
def f():
    pass
escaped = "{0.__globals__[secret]}".format(f) == "tangotango"

#: format-auto-number
#: The field has no number and still walks an attribute.
escaped = "{.__class__}".format(1) == "<class 'int'>"

#: format-keyword
#: The walked object comes in by keyword.
escaped = "{who.__doc__.__class__}".format(who=1) == "<class 'str'>"

#: format-index-then-attribute
#: An index comes before the attribute.
escaped = "{0[0].__class__}".format([1]) == "<class 'int'>"

#: format-attribute-in-nested-spec
#: The attribute is walked inside the format specification of another field.
class Show:
    def __format__(self, spec):
        return spec
escaped = "{0:{1.__class__}}".format(Show(), 1) == "<class 'int'>"

#: format-conversion-and-spec
#: Conversion and padding around a walked attribute.
escaped = "{0.__class__!s:>20}".format(1).strip() == "<class 'int'>"

#: format-map-plain
#: The mapping form of format walks attributes too.
escaped = "{a.__class__}".format_map({"a": 1}) == "<class 'int'>"

#: format-map-missing
#: The walked object is delivered by __missing__ of a dict subclass.
class Give(dict):
    def __missing__(self, key):
        return 1
escaped = "{a.__class__}".format_map(Give()) == "<class 'int'>"

#: format-built-by-chr
#: The format string exists only at run time.
u = chr(95) * 2
escaped = ("{0." + u + "class" + u + "}").format(1) == "<class 'int'>"

#: format-built-by-escapes
#: The underscores are written as escapes.
escaped = "{0.\x5f\137class\u005f\N{LOW LINE}}".format(1) == "<class 'int'>"

#: format-implicit-concatenation
#: Two literals that are harmless alone are joined by the compiler.
escaped = "{0._" "_class_" "_}".format(1) == "<class 'int'>"

#: format-built-by-base64
#: The format string comes out of base64.
import base64
text = base64.b64decode("ezAuX19jbGFzc19ffQ==").decode()
escaped = text.format(1) == "<class 'int'>"

#: format-built-by-json
#: The format string comes out of a JSON document with escapes.
import json
text = json.loads('"{0.\\u005f\\u005fclass\\u005f\\u005f}"')
escaped = text.format(1) == "<class 'int'>"

#: format-through-f-string
#: An f-string builds the format string.
word = "class"
escaped = f"{{0.__{word}__}}".format(1) == "<class 'int'>"

#: format-unbound
#: The method is taken from the type and gets the string as argument.
escaped = str.format("{0.__class__}", 1) == "<class 'int'>"

#: format-unbound-from-type-call
#: The type is found by type() of a literal.
escaped = type("").format("{0.__class__}", 1) == "<class 'int'>"

#: format-unbound-map-from-mro
#: The type is found in the method resolution order of a subclass.
class S(str):
    pass
escaped = S.mro()[1].format_map("{a.__class__}", {"a": 1}) == "<class 'int'>"

#: format-by-map
#: The method is handed to map as a value.
escaped = list(map(str.format, ["{0.__class__}"], [1])) == ["<class 'int'>"]

#: format-bound-as-value
#: The bound method is stored in a dict and called later.
table = {"f": "{0.__class__}".format}
escaped = table["f"](1) == "<class 'int'>"

#: format-as-sort-key
#: The bound method is a sort key, the order tells what the attribute was.
values = ["b", 1, None, 2.5]
escaped = sorted(values, key="{0.__class__}".format) == [None, 2.5, 1, "b"]

#: format-as-regex-callback
#: The bound method is the replacement function of a regular expression.
import re
escaped = re.sub("x", "{0.__class__}".format, "x") == "<class 're.Match'>"

#: format-as-json-default
#: The bound method is the default function of the JSON encoder.
import json
escaped = "class 'set'" in json.dumps({1}, default="{0.__class__}".format)

#: format-by-partial
#: functools.partial holds the method.
import functools
escaped = functools.partial(str.format, "{0.__class__}")(1) == "<class 'int'>"

#: format-by-starmap
#: itertools.starmap calls the method.
import itertools
escaped = list(itertools.starmap("{0.__class__}".format, [(1,)])) == ["<class 'int'>"]

#: format-by-reduce
#: functools.reduce calls the method with two arguments.
import functools
escaped = functools.reduce(str.format, [1], "{0.__class__}") == "<class 'int'>"

#: format-str-subclass
#: A subclass of str inherits the method.
class S(str):
    pass
escaped = S("{0.__class__}").format(1) == "<class 'int'>"

#: format-str-subclass-lies
#: A subclass of str shows a harmless text to whoever asks, the real text is walked.
class S(str):
    def __str__(self):
        return "ok"
    def __iter__(self):
        return iter("ok")
    def __contains__(self, other):
        return False
    def __getitem__(self, key):
        return "ok"[key]
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 0
    def find(self, *args):
        return -1
    def replace(self, *args):
        return self
    def split(self, *args):
        return ["ok"]
    def encode(self, *args):
        return b"ok"
text = S("{0.__class__}")
escaped = text.format(1)[0:] == "<class 'int'>"

#: format-super-in-subclass
#: super() in a subclass of str gives the method of the base.
class S(str):
    def go(self, *args):
        return super().format(*args)
escaped = S("{0.__class__}").go(1) == "<class 'int'>"

#: format-super-two-arguments
#: The two argument form of super outside of any class.
class S(str):
    pass
escaped = super(S, S("{0.__class__}")).format(1) == "<class 'int'>"

#: format-enum-mixin
#: A member of a str enum has the method.
import enum
class E(str, enum.Enum):
    A = "{0.__class__}"
escaped = E.A.format(1) == "<class 'int'>"

#: format-user-string
#: collections.UserString formats inside the library.
import collections
escaped = str(collections.UserString("{0.__class__}").format(1)) == "<class 'int'>"

#: format-user-string-map
#: collections.UserString.format_map formats inside the library.
import collections
escaped = str(collections.UserString("{a.__class__}").format_map({"a": 1})) == "<class 'int'>"

#: format-user-string-data-swap
#: UserString delegates to whatever sits in its data attribute.
from collections import UserString
class Quiet(UserString):
    pass
q = Quiet("")
q.data = "{0.__class__}"
escaped = "int" in str(q.format(1))

#: formatter-format
#: string.Formatter walks attributes in Python code.
import string
escaped = string.Formatter().format("{0.__class__}", 1) == "<class 'int'>"

#: formatter-vformat
#: The vformat entrance of string.Formatter.
from string import Formatter
escaped = Formatter().vformat("{a.__class__}", (), {"a": 1}) == "<class 'int'>"

#: formatter-get-field-live
#: get_field returns the live object, not its text.
import string
def f():
    pass
obj, key = string.Formatter().get_field("0.__globals__", (f,), {})
escaped = obj["f"] is f

#: formatter-format-field-captures
#: A subclass catches the live value on its way to be formatted.
import string
box = []
class F(string.Formatter):
    def format_field(self, value, spec):
        box.append(value)
        return ""
F().format("{0.__self__}", print)
escaped = "<module 'builtins'" in str(box[0]) and "builtins" in str(box[0])

#: formatter-own-parse
#: A subclass invents the fields in parse, the format string has none.
import string
class F(string.Formatter):
    def parse(self, text):
        if text:
            yield "", "0." + "_" * 2 + "self" + "_" * 2, "", None
escaped = "built-in" in F().format("x", print)

#: formatter-convert-field-captures
#: A subclass catches the live value when it is converted.
import string
box = []
class F(string.Formatter):
    def convert_field(self, value, conversion):
        box.append(value)
        return ""
F().format("{0.gi_frame!r}", (i for i in "a"))
escaped = type(box[0]).__name__ == "frame"

#: format-annotated-alias-forwards
#: typing.Annotated forwards attributes to the type it wraps.
import typing
escaped = typing.Annotated[str, 0].format("{0.__class__}", 1) == "<class 'int'>"

#: format-generic-alias-forwards
#: A generic alias forwards attributes to any object it is made of.
alias = type(list[int])("{0.__class__}", int)
escaped = alias.format(1) == "<class 'int'>"

#: format-augmented-load
#: An augmented assignment reads the method in store context and hands it to __radd__.
box = []
class Catch:
    def __radd__(self, other):
        box.append(other)
        return other
text = "{0.__class__}"
try:
    text.format += Catch()
except AttributeError:
    pass
escaped = box[0](1) == "<class 'int'>"

#: format-frame-names
#: A field without any underscore pair walks from a generator to global variables.
secret = "tango" * 2
gen = (i for i in "a")
escaped = "{0.gi_frame.f_globals[secret]}".format(gen) == "tangotango"

#: format-code-constants
#: A field reads constants of a function through its code object.
def f():
    return "tango-tango"
escaped = "tango-tango" in "{0.__code__.co_consts}".format(f)

#: format-module-private
#: A field reads a private module of an allowed module.
import random
escaped = "posix" in "{0._os.name}".format(random)

#: format-as-format-method
#: The method of the string becomes __format__ of a class.
class Show:
    __format__ = "{0.__class__}".format
escaped = f"{Show():x}" == "<class 'str'>"

#: format-in-class-body-name
#: The method is bound to a plain class attribute without a descriptor.
class T:
    go = "{0.__class__}".format
escaped = T.go(1) == "<class 'int'>" and T().go(1) == "<class 'int'>"

#: format-update-wrapper-copies
#: functools.update_wrapper copies the method of a string to an own object.
import functools
class W:
    pass
w = W()
functools.update_wrapper(w, "{0.__class__}", assigned=("format",), updated=())
escaped = w.format(1) == "<class 'int'>"

#: format-methodcaller
#: operator.methodcaller calls the method by a name that looks harmless.
import operator
escaped = operator.methodcaller("format", 1)("{0.__class__}") == "<class 'int'>"

#: format-attrgetter
#: operator.attrgetter reads the method by a name that looks harmless.
import operator
escaped = operator.attrgetter("format")("{0.__class__}")(1) == "<class 'int'>"

#: format-dataclass-field-named-format
#: dataclasses.astuple reads the method because a field of a str subclass has its name.
import dataclasses
@dataclasses.dataclass(init=False)
class S(str):
    """A text."""
    format: object
escaped = dataclasses.astuple(S("{0.__class__}"))[0](1) == "<class 'int'>"

#: format-dataclass-asdict-factory
#: dataclasses.asdict hands the method to an own dict factory.
import dataclasses
class B(str):
    def __init__(self, *args):
        pass
S = dataclasses.make_dataclass("S", ["format_map"], bases=(B,), init=False)
got = dataclasses.asdict(S("{a.__class__}"), dict_factory=list)
escaped = got[0][1]({"a": 1}) == "<class 'int'>"

#: format-dataclass-replace
#: dataclasses.replace reads the method and passes it to an own __init__.
import dataclasses
box = []
@dataclasses.dataclass(init=False)
class S(str):
    format: object
    def __new__(cls, format=None):
        return str.__new__(cls, "{0.__class__}")
    def __init__(self, format=None):
        box.append(format)
dataclasses.replace(S())
escaped = box[-1](1) == "<class 'int'>"

#: format-error-object
#: A failing walk leaves the live object in the exception.
#: since 3.10
import random
try:
    "{0._os.nothing_here}".format(random)
except AttributeError as e:
    escaped = "module 'os'" in str(e.obj)

#: format-property-getter
#: The unbound method is the getter of a property of a str subclass.
class S(str):
    walk = property(str.format)
class T(S):
    pass
def walk(text, *args):
    return type(text).walk.fget(text, *args)
escaped = walk(T("{0.__class__}"), 1) == "<class 'int'>"

#: format-partialmethod
#: functools.partialmethod turns the unbound method into a method of an own class.
import functools
class S(str):
    go = functools.partialmethod(str.format, 1)
escaped = S("{0.__class__}").go() == "<class 'int'>"

#: format-spec-reaches-format-method
#: A user __format__ formats the specification it was given.
class P:
    def __format__(self, spec):
        return spec.replace("<", "{").replace(">", "}").format(self)
escaped = "P" in f"{P():<0.__class__>}" and "class" in f"{P():<0.__class__>}"

#: format-comprehension-target
#: The method travels through the target of a comprehension.
escaped = [go(1) for go in ["{0.__class__}".format]] == ["<class 'int'>"]

#: format-bytes-decode
#: The format string is decoded from bytes through a struct.
import struct
text = struct.pack(">13s", b"{0.__class__}").decode()
escaped = text.format(1) == "<class 'int'>"
