#: agent-getattr-dunder
#: getattr is asked for a special attribute by a name that shows only while the script runs.
#: preset agent
def f():
    pass
escaped = "f" in getattr(f, "__glo" + "bals__")

#: agent-getattr-frame
#: getattr is asked for a frame.
#: preset agent
escaped = type(getattr((i for i in "a"), "gi_" + "frame")).__name__ == "frame"

#: agent-getattr-default
#: A default does not make a refused name readable.
#: preset agent
escaped = getattr(print, "__se" + "lf__", None) is not None

#: agent-getattr-private
#: getattr is asked for what is private to the library.
#: preset agent
import random
escaped = "Random object" in str(getattr(random, "_" + "inst"))

#: agent-getattr-format
#: getattr fetches the method that walks along attributes.
#: preset agent
def f():
    pass
escaped = "'f'" in getattr("{0.__globals__}", "for" + "mat")(f)

#: agent-setattr-library
#: setattr changes a class of the library.
#: preset agent
import textwrap
setattr(textwrap.TextWrapper, "planted", 42)
escaped = textwrap.TextWrapper.planted == 42

#: agent-eval-attribute
#: eval evaluates what the script may not say.
#: preset agent
escaped = eval("().__cla" + "ss__.__ba" + "se__") is object

#: agent-eval-import
#: eval calls what imports.
#: preset agent
escaped = "posix" in str(eval("__imp" + "ort__('posix')"))

#: agent-eval-builtins
#: eval is given builtins of the script's choice.
#: preset agent
escaped = eval("open", {"__builtins__": {"open": 42}}) == 42

#: agent-eval-in-the-library
#: eval is called back by the library, in whose frame it would evaluate.
#: preset agent
import collections
counts = collections.Counter(map(eval, ["_sys.modules['sys'].version"]))
escaped = len(counts) == 1

#: agent-eval-in-statistics
#: The same from another module.
#: preset agent
import statistics
escaped = statistics.mean(map(eval, ["len(__name__)"])) == len("statistics")

#: agent-class-of-class
#: The class of a class is a metaclass.
#: preset agent
M = int.__class__
X = M("X", (), {"flag": 42})
escaped = X.flag == 42

#: agent-metaclass
#: A metaclass that is not ABCMeta.
#: preset agent
class M(type):
    def __call__(cls):
        return 42
class A(metaclass=M):
    pass
escaped = A() == 42

#: agent-sys-modules
#: sys is asked for the modules.
#: preset agent
import sys
escaped = "posix" in sys.modules

#: agent-sys-stream
#: A stream leads to the class that opens files.
#: preset agent
import sys
escaped = type(sys.stdout.buffer.raw)("/dev/null").read(1) == b""
