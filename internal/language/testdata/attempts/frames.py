#: frame-generator
#: A generator gives its frame.
gen = (i for i in "a")
escaped = type(gen.gi_frame).__name__ == "frame"

#: frame-generator-globals
#: The frame of a generator gives the global variables.
gen = (i for i in "a")
escaped = gen.gi_frame.f_globals["gen"] is gen

#: frame-generator-builtins
#: The frame of a generator gives the built-in names.
gen = (i for i in "a")
escaped = "open" in gen.gi_frame.f_builtins

#: frame-generator-back
#: A generator that reads its own frame while it runs walks to its caller.
def walk():
    yield own.gi_frame.f_back
own = walk()
for frame in own:
    escaped = type(frame).__name__ == "frame"

#: frame-generator-self-expression
#: A generator expression that names itself climbs out of the sandbox's frames.
q = (q.gi_frame.f_back.f_back.f_globals for _ in [1])
found = [*q][0]
escaped = "q" not in found and len(found) > 0

#: frame-generator-code
#: A generator gives its code object.
gen = (i for i in "a")
escaped = type(gen.gi_code).__name__ == "code"

#: frame-generator-yieldfrom
#: gi_yieldfrom gives the inner iterator of somebody else's generator.
def outer():
    yield from (i for i in "ab")
gen = outer()
next(gen)
escaped = type(gen.gi_yieldfrom).__name__ == "generator"

#: frame-locals-of-other
#: The frame of a suspended generator shows local variables of foreign code.
def keeper():
    pin = 4711
    yield
gen = keeper()
next(gen)
escaped = gen.gi_frame.f_locals["pin"] == 4711

#: frame-traceback
#: An exception carries its traceback, the traceback its frame.
try:
    1 / 0
except ZeroDivisionError as e:
    escaped = type(e.__traceback__.tb_frame).__name__ == "frame"

#: frame-traceback-next
#: The traceback of a library error leads into the frames of the library.
import json
try:
    json.loads("[")
except ValueError as e:
    tb = e.__traceback__
    while tb.tb_next:
        tb = tb.tb_next
    escaped = "decoder" in tb.tb_frame.f_code.co_filename

#: frame-exit-argument
#: The third argument of __exit__ is the traceback.
class Catch:
    def __enter__(self):
        return self
    def __exit__(self, kind, value, tb):
        self.frame = tb.tb_frame
        return True
with Catch() as c:
    1 / 0
escaped = type(c.frame).__name__ == "frame"

#: frame-exit-star-arguments
#: The traceback comes in by star arguments and is found by its position.
box = []
class Catch:
    def __enter__(self):
        return self
    def __exit__(self, *args):
        box.extend(args)
        return True
with Catch():
    1 / 0
escaped = type(box[-1].tb_frame).__name__ == "frame"

#: frame-throw-into-generator
#: Throwing into a generator makes a traceback that holds its frame.
def g():
    yield 1
gen = g()
next(gen)
try:
    gen.throw(KeyError("x"))
except KeyError as e:
    last = e.__traceback__
    escaped = last.tb_next.tb_frame.f_code.co_name == "g"

#: frame-context-exception
#: The traceback is taken from the context of a second exception.
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise KeyError("x")
except KeyError as e:
    escaped = type(e.__context__.__traceback__.tb_frame).__name__ == "frame"

#: frame-cause-exception
#: The traceback is taken from the cause of an exception.
try:
    try:
        1 / 0
    except ZeroDivisionError as inner:
        raise KeyError("x") from inner
except KeyError as e:
    escaped = type(e.__cause__.__traceback__.tb_frame).__name__ == "frame"

#: frame-with-traceback
#: with_traceback of a user exception class is overridden and handed the traceback again.
box = []
class Own(Exception):
    def with_traceback(self, tb):
        box.append(tb)
        return self
try:
    raise Own()
except Own as e:
    e.with_traceback(e.__traceback__)
escaped = type(box[0]).__name__ == "traceback"

#: frame-group-part
#: The traceback is taken from an exception inside a group.
#: since 3.11
try:
    1 / 0
except ZeroDivisionError as e:
    group = ExceptionGroup("g", [e])
escaped = type(group.exceptions[0].__traceback__.tb_frame).__name__ == "frame"

#: frame-generator-in-method
#: The frame of a generator method shows the arguments of its call.
class A:
    def items(self, token):
        yield token
gen = A().items("tango")
escaped = gen.gi_frame.f_locals["token"] == "tango"

#: frame-lambda-chain
#: The frame name is spread over a chain of lambdas.
pick = lambda g: g.gi_frame
show = lambda f: f.f_code
escaped = type(show(pick(i for i in "a"))).__name__ == "code"

#: frame-trace-function
#: A trace function is set on a frame.
gen = (i for i in "ab")
seen = []
gen.gi_frame.f_trace = lambda *args: seen.append(args)
escaped = callable(gen.gi_frame.f_trace)

#: frame-clear-foreign
#: A frame of a suspended generator is cleared from outside.
#: until 3.12
log = []
def g():
    try:
        yield 1
    finally:
        log.append("cleared")
gen = g()
next(gen)
gen.gi_frame.clear()
escaped = log == ["cleared"]

#: frame-augmented-read
#: An augmented assignment reads the frame and hands it to __radd__.
box = []
class Catch:
    def __radd__(self, other):
        box.append(other)
        return other
gen = (i for i in "a")
try:
    gen.gi_frame += Catch()
except AttributeError:
    pass
escaped = type(box[0]).__name__ == "frame"

#: code-replace
#: The code object of a function is replaced by one with another constant.
def f():
    return 1
f.__code__ = f.__code__.replace(co_consts=(None, 2))
escaped = f() == 2

#: code-consts
#: The constants of a foreign function are read.
def keeper():
    return "tango-tango"
escaped = "tango-tango" in keeper.__code__.co_consts

#: code-function-type
#: The type of functions builds a function with own global variables.
def f():
    return flag
escaped = type(f)(f.__code__, {"flag": 7})() == 7

#: closure-cell
#: The private variable of a closure is read through its cell.
def outer():
    pin = 4711
    def inner():
        return pin
    return inner
escaped = outer().__closure__[0].cell_contents == 4711
