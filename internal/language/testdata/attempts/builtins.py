#: builtins-eval
#: eval is called directly.
escaped = eval("6 * 7") == 42

#: builtins-exec
#: exec is called directly.
box = []
exec("box.append(42)")
escaped = box == [42]

#: builtins-compile
#: compile makes a code object.
escaped = type(compile("1", "x", "eval")).__name__ == "code"

#: builtins-open
#: A file is opened.
escaped = open("/proc/self/status").read(5) == "Name:"

#: builtins-getattr
#: getattr reads a dunder by string.
escaped = "<module 'builtins'" in str(getattr(print, "__self__"))

#: builtins-setattr
#: setattr changes a library class.
import textwrap
setattr(textwrap.TextWrapper, "mark", 1)
escaped = textwrap.TextWrapper.mark == 1

#: builtins-delattr
#: delattr removes a method from a library class.
import textwrap
delattr(textwrap.TextWrapper, "fill")
escaped = not hasattr(textwrap.TextWrapper, "fill")

#: builtins-globals
#: globals gives the global variables as a dict.
globals()["planted"] = 42
escaped = planted == 42

#: builtins-locals
#: locals at the top level is the same dict.
locals()["planted"] = 42
escaped = planted == 42

#: builtins-vars
#: vars of a library class gives its namespace.
import string
escaped = "substitute" in vars(string.Template)

#: builtins-dir
#: dir lists what is inside of an object.
import random
escaped = "_os" in dir(random)

#: builtins-import-function
#: The import function is called directly.
escaped = __import__("os").getcwd()[:1] == "/"

#: builtins-import-function-fromlist
#: The import function is called with all of its arguments.
escaped = __import__("os.path", {}, {}, ["join"], 0).join("a", "b") == "a/b"

#: builtins-build-class
#: The hidden function behind the class statement is called directly.
X = __build_class__(lambda: None, "X")
escaped = type(X).__name__ == "type"

#: builtins-name-itself
#: The name of the built-in names is read.
b = __builtins__
escaped = "open" in str(b)

#: builtins-subscript
#: The built-in names are subscripted or read by attribute, whatever they are.
def f():
    b = __builtins__
    try:
        return b["open"]
    except TypeError:
        return b.open
escaped = "open" in str(f())

#: builtins-loader
#: The loader of the builtins module is visible as a built-in name.
escaped = "sys" in str(__loader__.load_module("sys"))

#: builtins-spec
#: The specification of the builtins module is visible as a built-in name.
escaped = __spec__.name == "builtins"

#: builtins-print-self
#: A built-in function is bound to its module.
escaped = "built-in" in str(print.__self__) and "<module 'builtins'" in str(print.__self__)

#: builtins-len-self-open
#: open is taken from the module of another built-in function.
escaped = len.__self__.open("/proc/self/status").read(5) == "Name:"

#: builtins-function-builtins
#: A function knows its built-in names.
#: since 3.10
escaped = "open" in (lambda: 0).__builtins__

#: builtins-eval-by-map
#: eval is a value that map calls.
escaped = list(map(eval, ["6 * 7"])) == [42]

#: builtins-eval-as-sort-key
#: eval is a sort key.
escaped = sorted(["2", "1 - 5"], key=eval) == ["1 - 5", "2"]

#: builtins-eval-as-default
#: eval is the default of a parameter.
def f(text, run=eval):
    return run(text)
escaped = f("6 * 7") == 42

#: builtins-eval-as-decorator
#: eval is a decorator over a class whose stand-in is a string.
@eval
@lambda c: "6 * 7"
class X:
    pass
escaped = X == 42

#: builtins-eval-in-f-string
#: eval is called inside an f-string.
escaped = f"{eval('6 * 7')}" == "42"

#: builtins-eval-by-json
#: The JSON decoder calls eval for numbers.
import json
escaped = json.loads("[1.5]", parse_float=eval) == [1.5] and json.loads('{"a": 7e0}', parse_float=eval)["a"] == 7

#: builtins-eval-in-walrus
#: eval is bound by an assignment expression inside a comprehension.
escaped = [run("6 * 7") for _ in [0] if (run := eval)] == [42]

#: builtins-eval-in-class-body
#: eval becomes a method.
class A:
    run = eval
escaped = A().run("6 * 7") == 42

#: builtins-exec-as-subscript
#: exec hides behind a subscript by __class_getitem__.
class A:
    __class_getitem__ = exec
A["planted = 42"]
escaped = planted == 42

#: builtins-globals-factory
#: globals is the factory of a defaultdict.
import collections
d = collections.defaultdict(globals)
escaped = d["x"]["d"] is d

#: builtins-getattr-by-reduce
#: getattr is folded over attribute names.
import functools
escaped = "<module 'builtins'" in str(functools.reduce(getattr, ["__self__"], print))

#: builtins-getattr-str-subclass
#: getattr gets a name whose class lies about its text.
class Name(str):
    def startswith(self, *args):
        return False
    def __contains__(self, other):
        return False
    def __getitem__(self, key):
        return "a"
    def __str__(self):
        return "real"
escaped = "<module 'builtins'" in str(getattr(print, Name("__self__")))

#: builtins-hasattr-dunder
#: hasattr tells about a dunder.
escaped = hasattr(print, "__self__")

#: builtins-hasattr-frame
#: hasattr tells about a frame.
escaped = hasattr((i for i in "a"), "gi_frame")

#: builtins-hasattr-str-subclass
#: hasattr gets a name whose class lies about its text.
class Name(str):
    def startswith(self, *args):
        return False
    def endswith(self, *args):
        return False
    def __contains__(self, other):
        return False
    def __getitem__(self, key):
        return "a"
    def __str__(self):
        return "real"
escaped = hasattr(print, Name("__self__"))

#: builtins-hasattr-by-map
#: hasattr is a value that map calls.
escaped = list(map(hasattr, [print], ["__self__"])) == [True]

#: builtins-license-reads-files
#: The license printer reads any file that is put on its list.
license._Printer__filenames = ["/proc/self/status"]
license._Printer__lines = None
license._Printer__setup()
escaped = license._Printer__lines[0][:5] == "Name:"

#: builtins-license-mangled
#: The same attributes are spelled by name mangling in a class of the right name.
class Printer:
    def go(self, target):
        target.__filenames = ["/proc/self/status"]
        target.__lines = None
        target.__setup()
        return target.__lines[0]
escaped = Printer().go(copyright)[:5] == "Name:"

#: builtins-help
#: help is an object with the global variables of its module.
escaped = help.__call__.__globals__["__name__"] == "_sitebuiltins"

#: builtins-exit-globals
#: exit is an object whose method knows sys.
escaped = "module 'sys'" in str(type(exit).__call__.__globals__["sys"])

#: builtins-breakpoint
#: breakpoint starts the debugger.
def f():
    breakpoint()
    return 1
try:
    f()
except BaseException as e:
    escaped = "Bdb" in type(e).__name__

#: builtins-getset-descriptor
#: The descriptor of a type is called to reach the module of a function.
escaped = "built-in" in str(type(print).__self__.__get__(print))
