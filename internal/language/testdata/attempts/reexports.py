#: reexport-random-os
#: A private module of random.
import random
escaped = "module 'os'" in str(random._os)

#: reexport-re-enum-sys
#: A chain of re-exported modules without one underscore.
import re
escaped = "module 'sys'" in str(re.enum.sys)

#: reexport-re-copyreg
#: The registry behind copy and pickle.
import re
escaped = "module 'copyreg'" in str(re.copyreg)

#: reexport-re-functools
#: An allowed module, reached as the real module past its facade.
import re
escaped = "<module 'functools' from" in str(re.functools)

#: reexport-json-codecs
#: The codecs module opens files.
import json
escaped = json.codecs.open("/proc/self/status").read(5) == "Name:"

#: reexport-json-decoder
#: A submodule of an allowed package.
import json
escaped = "module 'json.decoder'" in str(json.decoder)

#: reexport-json-decoder-chain
#: From a submodule to a private module of it.
import json
escaped = "module 'json.scanner'" in str(json.decoder.scanner)

#: reexport-collections-sys
#: A private module of collections.
import collections
escaped = "module 'sys'" in str(collections._sys)

#: reexport-collections-abc-sys
#: The abstract classes come with a module.
#: since 3.13
import collections.abc
escaped = "module 'sys'" in str(collections.abc.sys)

#: reexport-datetime-sys
#: A public name of datetime is a module.
#: until 3.11
import datetime
escaped = "module 'sys'" in str(datetime.sys)

#: reexport-calendar-sys
#: A public name of calendar is a module.
import calendar
escaped = "module 'sys'" in str(calendar.sys)

#: reexport-calendar-datetime
#: calendar re-exports an allowed module, as the real one.
import calendar
escaped = "<module 'datetime' from" in str(calendar.datetime)

#: reexport-calendar-locale
#: The locale module changes the whole process.
import calendar
escaped = "module 'locale'" in str(calendar._locale)

#: reexport-enum-sys
#: A public name of enum is a module.
import enum
escaped = "module 'sys'" in str(enum.sys)

#: reexport-enum-builtins
#: enum has the builtins module under a short public name.
#: since 3.11
import enum
escaped = enum.bltns.eval("6 * 7") == 42

#: reexport-dataclasses-inspect
#: dataclasses has inspect.
import dataclasses
escaped = type(dataclasses.inspect.currentframe()).__name__ == "frame"

#: reexport-dataclasses-builtins
#: dataclasses has builtins.
#: until 3.11
import dataclasses
escaped = dataclasses.builtins.eval("6 * 7") == 42

#: reexport-dataclasses-types
#: dataclasses has types.
import dataclasses
escaped = dataclasses.types.new_class("X").__name__ == "X"

#: reexport-typing-sys
#: typing has sys.
import typing
escaped = "module 'sys'" in str(typing.sys)

#: reexport-typing-contextlib
#: typing has contextlib, which has sys.
#: until 3.12
import typing
escaped = "module 'sys'" in str(typing.contextlib.sys)

#: reexport-typing-io
#: A pseudo module inside typing.
#: until 3.12
import typing
escaped = "typing.io" in str(typing.io)

#: reexport-fractions-sys
#: fractions has sys.
import fractions
escaped = "module 'sys'" in str(fractions.sys)

#: reexport-statistics-random
#: statistics has random, whose private module is the real one.
import statistics
escaped = "module 'os'" in str(statistics.random._os)

#: reexport-statistics-sys
#: statistics has sys.
#: since 3.11
import statistics
escaped = "module 'sys'" in str(statistics.sys)

#: reexport-string-re
#: string has re, whose re-exports are real.
import string
escaped = "module 'sys'" in str(string._re.enum.sys)

#: reexport-textwrap-re
#: textwrap has re, whose re-exports are real.
import textwrap
escaped = "module 'sys'" in str(textwrap.re.enum.sys)

#: reexport-base64-binascii
#: base64 has binascii and struct.
import base64
escaped = "module 'binascii'" in str(base64.binascii)

#: reexport-pprint-sys
#: A private module of pprint.
import pprint
escaped = "module 'sys'" in str(pprint._sys)

#: reexport-pprint-types
#: A private module of pprint with the types of code and functions.
import pprint
escaped = pprint._types.CodeType.__name__ == "code"

#: reexport-uuid-os
#: uuid has os.
import uuid
escaped = "module 'os'" in str(uuid.os)

#: reexport-uuid-platform
#: uuid has platform, which runs programs.
#: until 3.12
import uuid
escaped = "module 'platform'" in str(uuid.platform)

#: reexport-uuid-runs-program
#: A private function of uuid runs a program and returns what it printed.
import uuid
escaped = b"uid=" in uuid._get_command_stdout("id").read()

#: reexport-hashlib-openssl
#: The C module behind hashlib.
import hashlib
escaped = "module '_hashlib'" in str(hashlib._hashlib)

#: reexport-operator-private
#: The import machinery left a specification in operator.
import operator
escaped = operator.__spec__.loader is not None

#: reexport-difflib-test
#: A private self test imports doctest.
import difflib
result = difflib._test()
escaped = result.failed == 0

#: reexport-collections-private-abc
#: The module below collections.abc, with a private name.
import collections
escaped = "module 'sys'" in str(collections._collections_abc.sys)

#: reexport-class-attribute
#: A library class has a module among the global variables of its methods.
import calendar
escaped = "module 'locale'" in str(calendar.LocaleTextCalendar.formatweekday.__globals__["_locale"])

#: reexport-facade-type
#: The type of an allowed module is used to read past it.
import random
escaped = "module 'os'" in str(type(random).__getattribute__(random, "_os"))

#: reexport-update-wrapper
#: update_wrapper copies a private module onto an own object.
import functools, random
class W:
    pass
w = W()
functools.update_wrapper(w, random, assigned=("_os",), updated=())
escaped = "module 'os'" in str(w._os)
