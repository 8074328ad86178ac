#: generator-basics
#: Generators for sequences, trees and delegation with yield from.
from itertools import islice


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def countdown(n):
    while n > 0:
        yield n
        n -= 1
    return "liftoff"


def mission(n):
    message = yield from countdown(n)
    yield message


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = self.left if side == "left" else self.right
        if child:
            child.insert(value)
        elif side == "left":
            self.left = Tree(value)
        else:
            self.right = Tree(value)


def flatten(x):
    for item in x:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


root = Tree(50)
for v in (30, 70, 20, 40, 60, 80):
    root.insert(v)
g = countdown(1)
next(g)
try:
    next(g)
    returned = None
except StopIteration as stop:
    returned = stop.value
result = [list(islice(fibonacci(), 10)), list(mission(3)), list(root), list(flatten([1, [2, (3, [4])], []])), returned, next(countdown(0), "empty"), sum(1 for _ in islice(fibonacci(), 5, 20, 5))]
#= [[0, 1, 1, 2, 3, 5, 8, 13, 21, 34], [3, 2, 1, "liftoff"], [20, 30, 40, 50, 60, 70, 80], [1, 2, 3, 4], "liftoff", "empty", 3]

#: generator-send
#: Coroutine-style generators with send, throw, close and finally.
def averager():
    total, count, average = 0.0, 0, None
    while True:
        value = yield average
        if value is None:
            return round(total / count, 2)
        total += value
        count += 1
        average = total / count


def resilient(log):
    n = 0
    try:
        while True:
            try:
                command = yield n
                n += 1 if command is None else command
            except ValueError as e:
                log.append(f"handled {e}")
                n = -1
    except GeneratorExit:
        log.append("closing")
        raise
    finally:
        log.append("cleanup")


def delegate(results):
    while True:
        results.append((yield from averager()))


avg = averager()
next(avg)
averages = [avg.send(x) for x in (10, 20, 60)]
try:
    avg.send(None)
    final = None
except StopIteration as stop:
    final = stop.value

log = []
r = resilient(log)
steps = [next(r), next(r), r.send(10), r.throw(ValueError("bad input")), next(r)]
r.close()
r.close()

results = []
d = delegate(results)
next(d)
for x in (1, 2, None, 5, 7, 9, None):
    d.send(x)
d.close()
result = [averages, final, steps, log, results, list(r)]
#= [[10.0, 15.0, 30.0], 30.0, [0, 1, 11, -1, 0], ["handled bad input", "closing", "cleanup"], [1.5, 7.0], []]

#: generator-pipeline
#: A lazy log pipeline of generators with grep, parse and aggregate stages.
LINES = """\
GET /index 200 512
POST /login 401 64
GET /index 304 0
GET /big 200 90000
broken
DELETE /user/3 500 10
"""


def read(text):
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, line


def parse(numbered, errors):
    for number, line in numbered:
        try:
            method, path, status, size = line.split()
            yield {"line": number, "method": method, "path": path, "status": int(status), "size": int(size)}
        except ValueError:
            errors.append(number)


def grep(records, **conditions):
    for r in records:
        if all(check(r[key]) for key, check in conditions.items()):
            yield r


def take(n, items):
    for i, item in enumerate(items):
        if i >= n:
            return
        yield item


errors = []
everything = list(parse(read(LINES), errors))
failed = grep(parse(read(LINES), []), status=lambda s: s >= 400)
gets = grep(everything, method=lambda m: m == "GET", size=bool)
result = {
    "failed": [(r["line"], r["path"]) for r in failed],
    "bytes": sum(r["size"] for r in gets),
    "first": [r["line"] for r in take(2, everything)],
    "errors": errors,
    "largest": max(everything, key=lambda r: r["size"])["path"],
}
#= {"failed": [[2, "/login"], [6, "/user/3"]], "bytes": 90512, "first": [1, 2], "errors": [5], "largest": "/big"}

#: iterator-classes
#: Iterator classes, iter with a sentinel, reversed and chained iteration.
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return CountdownIterator(self.start)

    def __reversed__(self):
        yield from range(1, self.start + 1)

    def __len__(self):
        return self.start


class CountdownIterator:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1

    def __length_hint__(self):
        return self.n


class Peekable:
    _EMPTY = object()

    def __init__(self, iterable):
        self._it = iter(iterable)
        self._next = self._EMPTY

    def __iter__(self):
        return self

    def __next__(self):
        if self._next is not self._EMPTY:
            value, self._next = self._next, self._EMPTY
            return value
        return next(self._it)

    def peek(self, default=None):
        if self._next is self._EMPTY:
            try:
                self._next = next(self._it)
            except StopIteration:
                return default
        return self._next


def runs(numbers):
    it = Peekable(numbers)
    for n in it:
        run = [n]
        while it.peek() == run[-1] + 1:
            run.append(next(it))
        yield run


class Sequence:
    def __getitem__(self, i):
        if i >= 4:
            raise IndexError(i)
        return i * i


countdown = Countdown(3)
numbers = iter([3, 1, 4, 0, 5])
feed = lambda: next(numbers)
result = [list(countdown), list(countdown), list(reversed(countdown)), len(countdown), list(iter(feed, 0)), list(runs([1, 2, 3, 7, 8, 10])), list(Sequence()), 9 in Sequence(), [a + b for a, b in zip(countdown, countdown)], max(countdown), sorted(countdown)]
#= [[3, 2, 1], [3, 2, 1], [1, 2, 3], 3, [3, 1, 4], [[1, 2, 3], [7, 8], [10]], [0, 1, 4, 9], true, [6, 4, 2], 3, [1, 2, 3]]

#: generator-scheduler
#: Cooperative tasks as generators in a round-robin scheduler with messages.
from collections import deque


class Sleep:
    def __init__(self, ticks):
        self.ticks = ticks


class Send:
    def __init__(self, to, text):
        self.to, self.text = to, text


class Receive:
    pass


class Scheduler:
    def __init__(self):
        self.ready, self.sleeping, self.waiting = deque(), [], {}
        self.mail, self.clock, self.log = {}, 0, []

    def spawn(self, name, task):
        self.ready.append((name, task, None))

    def run(self, limit=100):
        while (self.ready or self.sleeping) and self.clock < limit:
            self.clock += 1
            for entry in [s for s in self.sleeping if s[0] <= self.clock]:
                self.sleeping.remove(entry)
                self.ready.append((*entry[1:], None))
            for _ in range(len(self.ready)):
                name, task, value = self.ready.popleft()
                try:
                    request = task.send(value)
                except StopIteration as stop:
                    self.log.append(f"{self.clock}: {name} done {stop.value}")
                    continue
                self.handle(name, task, request)

    def handle(self, name, task, request):
        if isinstance(request, Sleep):
            self.sleeping.append((self.clock + request.ticks, name, task))
        elif isinstance(request, Send):
            if request.to in self.waiting:
                self.ready.append((request.to, self.waiting.pop(request.to), request.text))
            else:
                self.mail.setdefault(request.to, deque()).append(request.text)
            self.ready.append((name, task, None))
        elif isinstance(request, Receive):
            if self.mail.get(name):
                self.ready.append((name, task, self.mail[name].popleft()))
            else:
                self.waiting[name] = task
        else:
            self.ready.append((name, task, None))


def producer(n):
    for i in range(n):
        yield Sleep(2)
        yield Send("consumer", f"item {i}")
    yield Send("consumer", None)
    return n


def consumer():
    got = []
    while (item := (yield Receive())) is not None:
        got.append(item)
    return got


s = Scheduler()
s.spawn("producer", producer(2))
s.spawn("consumer", consumer())
s.run()
result = [s.log, s.clock, len(s.waiting)]
#= [["8: consumer done ['item 0', 'item 1']", "8: producer done 2"], 8, 0]

#: generator-context
#: Generators that hold resources, with finally and try inside, and early exit.
class Pool:
    def __init__(self, size):
        self.free = list(range(size))
        self.log = []

    def lease(self):
        item = self.free.pop()
        self.log.append(f"take {item}")
        try:
            yield item
        finally:
            self.free.append(item)
            self.log.append(f"give {item}")

    def items(self, limit):
        for n in range(limit):
            for item in self.lease():
                yield n, item


class from_generator:
    """A small contextmanager made by hand."""

    def __init__(self, gen):
        self.gen = gen

    def __enter__(self):
        return next(self.gen)

    def __exit__(self, kind, error, trace):
        if error is None:
            for _ in self.gen:
                raise RuntimeError("generator did not stop")
            return False
        try:
            self.gen.throw(error)
        except StopIteration:
            return True
        except Exception as raised:
            if raised is not error:
                raise
            return False
        raise RuntimeError("generator did not stop after throw")


def quiet(kind, log):
    try:
        yield log
    except kind as e:
        log.append(f"swallowed {e!r}")


pool, log = Pool(2), []
with from_generator(pool.lease()) as a, from_generator(pool.lease()) as b:
    pair = [a, b]
with from_generator(quiet(KeyError, log)) as l:
    l.append("inside")
    {}["gone"]
gen = pool.items(5)
first = next(gen)
gen.close()
result = [pair, pool.log, sorted(pool.free), log, first]
#= [[1, 0], ["take 1", "take 0", "give 0", "give 1", "take 1", "give 1"], [0, 1], ["inside", "swallowed KeyError('gone')"], [0, 1]]

#: coroutines-by-hand
#: async functions driven with send, awaitables and a small event loop.
from collections import deque


class Pause:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        answer = yield self.value
        return answer


async def double(x):
    return 2 * await Pause(x)


async def total(xs):
    out = 0
    for x in xs:
        out += await double(x)
    return out


def drive(coroutine, answers):
    seen = []
    try:
        request = coroutine.send(None)
        while True:
            seen.append(request)
            request = coroutine.send(answers(request))
    except StopIteration as stop:
        return stop.value, seen


class Loop:
    def __init__(self):
        self.queue, self.results = deque(), {}

    def spawn(self, name, coroutine):
        self.queue.append((name, coroutine))

    def run(self):
        order = []
        while self.queue:
            name, coroutine = self.queue.popleft()
            try:
                coroutine.send(None)
                order.append(name)
                self.queue.append((name, coroutine))
            except StopIteration as stop:
                self.results[name] = stop.value
        return order


async def worker(name, n):
    for _ in range(n):
        await Pause(name)
    return f"{name} after {n}"


loop = Loop()
for name, n in (("a", 2), ("b", 1), ("c", 3)):
    loop.spawn(name, worker(name, n))
order = loop.run()
value, seen = drive(total([1, 2, 3]), lambda x: x * 10)
result = [value, seen, "".join(order), loop.results]
#= [120, [1, 2, 3], "abcacc", {"b": "b after 1", "a": "a after 2", "c": "c after 3"}]

#: async-protocols
#: async with, async for, async generators and async comprehensions run by hand.
class Tick:
    def __await__(self):
        yield "tick"
        return 1


class Resource:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        self.log.append("open")
        await Tick()
        return self

    async def __aexit__(self, kind, error, trace):
        await Tick()
        self.log.append("close" if kind is None else f"close after {kind.__name__}")
        return kind is LookupError


class Numbers:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        self.i = 0
        return self

    async def __anext__(self):
        if self.i >= self.n:
            raise StopAsyncIteration
        await Tick()
        self.i += 1
        return self.i


async def squares(n):
    try:
        for i in range(n):
            await Tick()
            yield i * i
    finally:
        LOG.append("squares closed")


async def main():
    async with Resource(LOG) as r:
        evens = [x async for x in Numbers(6) if x % 2 == 0]
        table = {x: x + 1 async for x in squares(3)}
        total = 0
        async for x in squares(4):
            total += x
        else:
            r.log.append("all squares")
    async with Resource(LOG):
        raise LookupError("hidden")
    return evens, table, total


def run(coroutine):
    ticks = 0
    while True:
        try:
            coroutine.send(None)
            ticks += 1
        except StopIteration as stop:
            return ticks, stop.value


LOG = []
ticks, (evens, table, total) = run(main())
result = [ticks, evens, table, total, LOG]
#= [17, [2, 4, 6], {"0": 1, "1": 2, "4": 5}, 14, ["open", "squares closed", "squares closed", "all squares", "close", "open", "close after LookupError"]]
