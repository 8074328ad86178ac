#: text-cookie-unicode-escape
#: An encoding cookie turns the rest of a comment into code.
# -*- coding: unicode_escape -*-
# \x0aimport os\x0aescaped = "module 'os'" in str(os)

#: text-cookie-raw-unicode-escape
#: The same with the raw form of the encoding.
# coding: raw_unicode_escape
# \u000aimport os\u000aescaped = "module 'os'" in str(os)

#: text-cookie-utf7
#: An encoding cookie hides code in base64.
# coding=utf-7
# +AAo-import os+AAo-escaped +AD0 +ACI-module 'os'+ACI in str(os)

#: text-cookie-second-line
#: The cookie stands in the second line.
# an ordinary script
# vim: set fileencoding=unicode_escape :
# \x0aimport os\x0aescaped = "module 'os'" in str(os)

#: text-cookie-closes-string
#: A cookie turns the content of a string into its end.
# coding: unicode_escape
note = '\x27; import os; escaped = "module \x5c\x27os" in str(os); x = \x27'

#: text-cookie-hides-dunder
#: A cookie hides the name of an attribute.
# coding: unicode_escape
escaped = "<module 'builtins'" in str(print.\x5f\x5fself\x5f\x5f)

#: text-byte-order-mark
#: A byte order mark stands in front of the first line.
#: escaped text
\ufeffimport os
escaped = "module 'os'" in str(os)

#: text-lone-cr-after-comment
#: A lone carriage return ends a comment.
#: escaped text
x = 1 # a note\rimport os
escaped = "module 'os'" in str(os)

#: text-lone-cr-only
#: The whole script has carriage returns only.
#: escaped text
# a note\rimport os\rescaped = "module 'os'" in str(os)\r

#: text-lone-cr-before-dunder
#: A carriage return in brackets splits an attribute chain.
#: escaped text
found = (print # a note\r.__self__)
escaped = "<module 'builtins'" in str(found)

#: text-cr-lf-mixed
#: Mixed line ends let line numbers disagree.
#: escaped text
# one\r# two\r\n# three\n# four\rimport os
escaped = "module 'os'" in str(os)

#: text-form-feed
#: A form feed stands before a statement.
#: escaped text
\x0cimport os
escaped = "module 'os'" in str(os)

#: text-form-feed-indent
#: A form feed resets the indentation.
#: escaped text
if True:
    x = 1
\x0c    import os
escaped = "module 'os'" in str(os)

#: text-form-feed-in-expression
#: Form feeds and tabs stand between the parts of an attribute.
#: escaped text
found = print\x0c.\t\x0c__self__
escaped = "<module 'builtins'" in str(found)

#: text-tab-indent
#: Tabs and spaces mix.
#: escaped text
if True:
\timport os
escaped = "module 'os'" in str(os)

#: text-vertical-tab-in-comment
#: Characters that other tools take for line ends stand in a comment, the code comes after the real one.
#: escaped text
# a\x0bb\x1cc\x1dd\x1ee\x85f
import os; escaped = "module 'os'" in str(os)

#: text-line-continuation
#: A backslash continues the line inside an attribute chain.
found = print. \
    __self__
escaped = "<module 'builtins'" in str(found)

#: text-line-continuation-import
#: A backslash continues the line inside an import.
import \
    os
escaped = "module 'os'" in str(os)

#: text-line-continuation-in-comment
#: A backslash at the end of a comment continues nothing.
# a note \
import os
escaped = "module 'os'" in str(os)

#: text-line-continuation-in-string
#: A backslash continues a string, so that no line of the source has the name.
found = "{0._\
_class_\
_}".format(1)
escaped = found == "<class 'int'>"

#: text-parenthesised-attribute
#: Brackets, line ends and comments stand between object, dot and name.
found = (
    print  # the function
    .      # the dot
    __self__  # the name
)
escaped = "<module 'builtins'" in str(found)

#: text-nfkc-attribute
#: Letters that the parser folds hide a dunder attribute.
escaped = "<module 'builtins'" in str(print.__ſelf__)

#: text-nfkc-mathematical
#: Mathematical letters hide a dunder attribute.
escaped = "<module 'builtins'" in str(print.__𝐬𝐞𝐥𝐟__)

#: text-nfkc-low-line
#: Other low lines fold to underscores.
escaped = "<module 'builtins'" in str(print._﹎self﹍﹏)

#: text-nfkc-fullwidth-import
#: Full width letters hide a module.
import ｏｓ
escaped = "module 'os'" in str(os)

#: text-nfkc-ordinal-import
#: An ordinal sign folds to a letter of a module.
import ºs
escaped = "module 'os'" in str(os)

#: text-nfkc-from-import
#: Folded letters in both parts of an import.
from ᵒs import g𝕖tcwd
escaped = getcwd()[:1] == "/"

#: text-nfkc-keyword-argument
#: Folded letters in the keyword of a class statement.
class X(ｍetaclass=lambda *args: 42):
    pass
escaped = X == 42

#: text-nfkc-builtin
#: Folded letters hide a built-in function.
escaped = ｅval("6 * 7") == 42

#: text-nfkc-format
#: Folded letters hide the format method.
escaped = "{0.__class__}".ｆormat(1) == "<class 'int'>"

#: text-nfkc-match-keyword
#: Folded letters hide the attribute of a class pattern.
#: since 3.10
match print:
    case object(__ｓelf__=found):
        escaped = "<module 'builtins'" in str(found)

#: text-nfkc-global
#: Folded letters hide a global statement.
#: since 3.10
def go():
    global __ｂuiltins__
    __builtins__ = {"ord": lambda c: 42}
go()
def probe():
    return ord("a")
escaped = probe() == 42

#: text-nfkc-frame
#: Folded letters hide the frame of a generator.
escaped = type((i for i in "a").gi_ｆrame).__name__ == "frame"

#: text-nfkc-mangled
#: Folded letters in a private name of a class.
class Printer:
    def go(self, target):
        target.__ｆilenames = ["/proc/self/status"]
        target.__lines = None
        target.__setup()
        return target.__lines[0]
escaped = Printer().go(credits)[:5] == "Name:"

#: text-far-right
#: Code stands far to the right, where no reader scrolls.
x = 1;                                                                                                                                                                                                        import os
escaped = "module 'os'" in str(os)

#: text-bidirectional-comment
#: Direction marks in a comment make the next statement look like a part of it.
# ‮ note ⁦ end ⁩
import os  # ‭
escaped = "module 'os'" in str(os)

#: text-semicolon
#: Several statements stand in one line.
x = 1; import os; escaped = "module 'os'" in str(os)

#: text-one-line-suite
#: The body of a statement stands in its line.
if True: import os
while True: escaped = "module 'os'" in str(os); break

#: text-no-final-newline
#: The last line is a comment with a backslash and code before it.
import os; escaped = "module 'os'" in str(os) # end \

#: text-number-attribute
#: The attribute follows a number without a space.
escaped = 1..__class__ is float and 0x1.__class__ is int

#: text-string-prefixes
#: Prefixes and triple quotes glue an attribute name together.
escaped = (u"{0.__" r'class' """__}""").format(1) == "<class 'int'>"

#: text-f-string-nested-quotes
#: Quotes of the same kind nest in an f-string.
#: since 3.12
escaped = "<module 'builtins'" in f"{f"{print.__self__}"}"

#: text-f-string-spec
#: The format specification of an f-string is an expression that runs.
box = []
x = f"{1:{box.append(print.__self__) or ''}}"
escaped = "<module 'builtins'" in str(box[0])

#: text-f-string-debug
#: The self documenting form of an f-string reads an attribute.
escaped = "<module 'builtins'" in f"{print.__self__=}"

#: text-f-string-conversion
#: A conversion in an f-string after an attribute.
escaped = "<module 'builtins'" in f"{print.__self__!r:>3}"

#: text-f-string-lambda
#: A lambda in an f-string reads an attribute.
escaped = "<module 'builtins'" in f"{(lambda: print.__self__)()}"

#: text-deep-nesting
#: The attribute stands so deep in brackets that a recursive check may give up.
found = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((print.__self__))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
escaped = "<module 'builtins'" in str(found)

#: text-long-chain
#: The attribute stands at the end of a long sum, where a recursive check may give up.
found = []
x = [1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+len(str(found.append(print.__self__)))]
escaped = "<module 'builtins'" in str(found)

#: text-dead-code-first
#: Code that never runs defines the names a flow check would look at.
if False:
    os = 1
else:
    import os
escaped = "module 'os'" in str(os)

#: text-docstring-with-quotes
#: A string that looks like a longer one ends early.
x = """a\""""; import os; y = """b"""
escaped = "module 'os'" in str(os)
