#: async-coroutine-frame
#: A coroutine gives its frame.
async def f():
    pass
c = f()
escaped = type(c.cr_frame).__name__ == "frame"
c.close()

#: async-coroutine-code
#: A coroutine gives its code object.
async def f():
    pass
c = f()
escaped = type(c.cr_code).__name__ == "code"
c.close()

#: async-generator-frame
#: An asynchronous generator gives its frame.
async def f():
    yield 1
escaped = type(f().ag_frame).__name__ == "frame"

#: async-generator-code
#: An asynchronous generator gives its code object.
async def f():
    yield 1
escaped = type(f().ag_code).__name__ == "code"

#: async-generator-expression-frame
#: An asynchronous generator expression inside a coroutine gives its frame.
async def f():
    async def numbers():
        yield 1
    g = (i async for i in numbers())
    return g.ag_frame
c = f()
try:
    c.send(None)
except StopIteration as e:
    escaped = type(e.value).__name__ == "frame"

#: async-await-chain
#: cr_await shows the object a foreign coroutine waits for.
class Stop:
    def __await__(self):
        yield 1
async def f():
    await Stop()
c = f()
c.send(None)
escaped = type(c.cr_await).__name__ == "generator"
c.close()

#: async-generator-await
#: ag_await shows the object a foreign asynchronous generator waits for.
class Stop:
    def __await__(self):
        yield 1
async def f():
    await Stop()
    yield 2
g = f()
g.asend(None).send(None)
escaped = type(g.ag_await).__name__ == "generator"

#: async-exit-traceback
#: The third argument of __aexit__ is the traceback.
class Catch:
    async def __aenter__(self):
        return self
    async def __aexit__(self, kind, value, tb):
        self.frame = tb.tb_frame
        return True
async def f():
    async with Catch() as c:
        1 / 0
    return c.frame
try:
    f().send(None)
except StopIteration as e:
    escaped = type(e.value).__name__ == "frame"

#: async-running-coroutine-back
#: A coroutine that reads its own frame while it runs walks to its caller.
async def f():
    return own.cr_frame.f_back
own = f()
try:
    own.send(None)
except StopIteration as e:
    escaped = type(e.value).__name__ == "frame"

#: async-throw-traceback
#: Throwing into a coroutine makes a traceback that holds its frame.
async def f():
    pass
try:
    f().throw(KeyError("x"))
except KeyError as e:
    escaped = e.__traceback__.tb_next.tb_frame.f_code.co_name == "f"

#: async-frame-by-format
#: A format field walks from a coroutine to the global variables.
secret = "tango" * 2
async def f():
    pass
c = f()
escaped = "{0.cr_frame.f_globals[secret]}".format(c) == "tangotango"
c.close()

#: async-frame-by-attrgetter
#: operator.attrgetter reads the frame of an asynchronous generator.
import operator
async def f():
    yield 1
escaped = type(operator.attrgetter("ag_" + "frame")(f())).__name__ == "frame"

#: async-import-inside
#: A forbidden module is imported inside a coroutine.
async def f():
    import os
    return os.getcwd()
try:
    f().send(None)
except StopIteration as e:
    escaped = e.value[:1] == "/"

#: async-for-binds-builtins
#: An asynchronous for loop binds the name of the built-in names.
#: since 3.10
async def one():
    yield {"ord": lambda c: 42}
async def f():
    global __builtins__
    async for __builtins__ in one():
        pass
try:
    f().send(None)
except StopIteration:
    pass
def probe():
    return ord("a")
escaped = probe() == 42

#: async-with-binds-builtins
#: An asynchronous with statement binds the name of the built-in names.
#: since 3.10
class Give:
    async def __aenter__(self):
        return {"ord": lambda c: 42}
    async def __aexit__(self, *args):
        pass
async def f():
    global __builtins__
    async with Give() as __builtins__:
        pass
try:
    f().send(None)
except StopIteration:
    pass
def probe():
    return ord("a")
escaped = probe() == 42
