#: import-os
#: A forbidden module is imported.
import os
escaped = os.getcwd()[:1] == "/"

#: import-dotted
#: A forbidden submodule is imported, which binds its parent.
import os.path
escaped = os.getcwd()[:1] == "/"

#: import-as-allowed-name
#: A forbidden module is imported under the name of an allowed one.
import os as math
escaped = math.getcwd()[:1] == "/"

#: import-dotted-as
#: A forbidden submodule is imported under another name.
import importlib.machinery as re
escaped = "module 'importlib" in str(re)

#: import-second-in-list
#: The forbidden module hides behind an allowed one.
import math, os
escaped = os.getcwd()[:1] == "/"

#: import-from
#: A function is imported from a forbidden module.
from os import getcwd
escaped = getcwd()[:1] == "/"

#: import-from-as
#: A function is imported under the name of a built-in function.
from os import getcwd as len
escaped = len()[:1] == "/"

#: import-star
#: All names of a forbidden module are imported.
from os import *
escaped = getcwd()[:1] == "/"

#: import-star-allowed
#: All names of an allowed module are imported, so that library names shadow anything.
from calendar import *
escaped = "function" in str(isleap) and "class" in str(TextCalendar)

#: import-private-from-allowed
#: A private name is imported from an allowed module.
from random import _os
escaped = "module 'os'" in str(_os)

#: import-private-from-allowed-as
#: A private name is imported from an allowed module under an innocent name.
from random import _os as dice
escaped = "module 'os'" in str(dice)

#: import-reexport-from-allowed
#: A re-exported module is imported from an allowed module.
from enum import sys
escaped = "module 'sys'" in str(sys)

#: import-submodule-from-allowed
#: A submodule that is not on the list is imported by from, which falls back to the table of modules.
from json import decoder
escaped = "module 'json.decoder'" in str(decoder)

#: import-submodule-scanner
#: A second submodule, reached the same way, under another name.
from json import scanner as parts
escaped = "module 'json.scanner'" in str(parts)

#: import-submodule-dotted
#: A submodule of an allowed package is imported by its dotted name.
import json.encoder
escaped = "module 'json.encoder'" in str(json.encoder)

#: import-submodule-tool
#: A submodule that runs programs of its own is imported from an allowed package.
from json.tool import main
escaped = "function main" in str(main)

#: import-private-submodule
#: A private submodule of an allowed package is imported.
#: since 3.11
from re import _compiler
escaped = "module 're._compiler'" in str(_compiler)

#: import-submodule-of-module
#: A module inside of an allowed submodule is imported.
from json.decoder import scanner
escaped = "module 'json.scanner'" in str(scanner)

#: import-dunder-from-allowed
#: The built-in names are imported from an allowed module.
from json import __builtins__ as names
escaped = "open" in names

#: import-loader-from-allowed
#: The loader is imported from an allowed module.
from json import __loader__ as loader
escaped = "json" in loader.get_filename("json")

#: import-spec-from-allowed
#: The specification is imported from an allowed module.
from json import __spec__ as spec
escaped = spec.name == "json"

#: import-in-function
#: A forbidden module is imported inside a nested function.
def a():
    def b():
        import os
        return os
    return b
escaped = "module 'os'" in str(a()())

#: import-in-class
#: A forbidden module becomes a class attribute.
class A:
    import os
escaped = "module 'os'" in str(A.os)

#: import-in-lambda-call
#: The import function is called inside of a lambda.
escaped = "module 'os'" in str((lambda n: __import__(n))("os"))

#: import-in-except
#: The import stands in a handler, which a checker of the main path may skip.
try:
    1 / 0
except ZeroDivisionError:
    import os
escaped = "module 'os'" in str(os)

#: import-in-finally
#: The import stands in a finally clause.
try:
    pass
finally:
    import os
escaped = "module 'os'" in str(os)

#: import-in-loop-else
#: The import stands in the else clause of a loop.
for i in []:
    pass
else:
    import os
escaped = "module 'os'" in str(os)

#: import-in-match
#: The import stands in a case.
#: since 3.10
match 1:
    case 1:
        import os
escaped = "module 'os'" in str(os)

#: import-builtins
#: The builtins module is imported.
import builtins
escaped = "open" in str(builtins.open)

#: import-sys-modules
#: sys is imported for its table of modules.
import sys
escaped = len(sys.modules) > 10

#: import-ctypes
#: ctypes is imported, which calls anything.
import ctypes
escaped = ctypes.sizeof(ctypes.c_char) == 1

#: import-posix
#: The C module below os is imported.
import posix
escaped = posix.getcwd()[:1] == "/"

#: import-io
#: The C module behind open is imported.
from _io import open as read
escaped = read("/proc/self/status").read(5) == "Name:"

#: import-gc
#: gc shows every object of the interpreter.
import gc
escaped = len(gc.get_objects()) > 100

#: import-inspect
#: inspect gives the current frame.
import inspect
escaped = type(inspect.currentframe()).__name__ == "frame"

#: import-main
#: The main module of the host is imported.
import __main__
escaped = "module '__main__'" in str(__main__)

#: import-private-accelerator
#: The C accelerator of an allowed module is imported.
import _json
escaped = "module '_json'" in str(_json)

#: import-fake-package-name
#: A dotted name that only begins like an allowed one.
import collections.abc as abc, concurrent.futures as mathematics
escaped = "concurrent" in str(mathematics)

#: import-shadow-import-function
#: The name of the import function is bound by an import before a forbidden one.
from functools import partial, reduce as __import__
import os
escaped = "module 'os'" in str(os)

#: import-future-then-os
#: A future statement comes first, the forbidden module second in the same line.
from __future__ import annotations; import os
escaped = "module 'os'" in str(os)

#: import-relative-by-package
#: The script says which package it belongs to and imports relative to it.
__package__ = "json"
from . import decoder
escaped = "module 'json.decoder'" in str(decoder)

#: import-relative-by-name
#: The script takes a module name inside a package and imports relative to it.
__name__ = "json.guest"
from .decoder import scanner
escaped = "module 'json.scanner'" in str(scanner)

#: import-relative-two-dots
#: Two dots leave the package the script claims to be in.
__package__ = "json.guest"
from .. import decoder
escaped = "module 'json.decoder'" in str(decoder)

#: import-relative-by-spec
#: A fake specification with a parent decides where a relative import goes.
class Spec:
    parent = "json"
__package__ = None
__spec__ = Spec()
from . import scanner
escaped = "module 'json.scanner'" in str(scanner)

#: import-as-falls-back
#: The import of a submodule under another name falls back to the table of modules, past any facade.
import collections.abc as names
escaped = "class" in str(names._CallableGenericAlias)

#: import-from-falls-back
#: The from form of the same import.
from collections import abc as names
escaped = "class" in str(names._CallableGenericAlias)
