package compat_test

import (
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var _ = table("asyncio",
	script{name: "sleep and gather", result: `[0, 1, 4, 9]`, source: `
import asyncio
async def square(n):
    await asyncio.sleep(0.001 * (4 - n))
    return n * n
async def main():
    return await asyncio.gather(*(square(n) for n in range(4)))
result = asyncio.run(main())
`},
	script{name: "queue", result: `[0, 1, 2, 3, 4]`, source: `
import asyncio
async def main():
    queue, seen = asyncio.Queue(2), []
    async def produce():
        for n in range(5):
            await queue.put(n)
        await queue.put(None)
    async def consume():
        while (n := await queue.get()) is not None:
            seen.append(n)
    await asyncio.gather(produce(), consume())
    return seen
result = asyncio.run(main())
`},
	script{name: "timeout", result: `"late"`, source: `
import asyncio
async def main():
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.01)
    except asyncio.TimeoutError:
        return "late"
result = asyncio.run(main())
`},
	script{name: "task group and timeout", since: 11, result: `[["a", "b"], "late"]`, source: `
import asyncio
async def name(n):
    await asyncio.sleep(0)
    return n
async def main():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(name(n)) for n in "ab"]
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)
    except TimeoutError:
        return [t.result() for t in tasks], "late"
result = asyncio.run(main())
`},
	// to_thread needs os.cpu_count()+4 threads and wakes the loop through its socket
	// pair.
	script{name: "to_thread", result: `[1, 2, 3]`, source: `
import asyncio, time
def slow(n):
    time.sleep(0.001)
    return n
async def main():
    return await asyncio.gather(*(asyncio.to_thread(slow, n) for n in (1, 2, 3)))
result = asyncio.run(main())
`},
	script{name: "events, locks, semaphores, shield, cancel", result: `["set", 2, "cancelled"]`, source: `
import asyncio
async def main():
    event, gate, peak, now = asyncio.Event(), asyncio.Semaphore(2), 0, 0
    async def enter():
        nonlocal peak, now
        async with gate:
            now += 1
            peak = max(peak, now)
            await asyncio.sleep(0.001)
            now -= 1
    async def wait():
        await event.wait()
        return "set"
    waiting = asyncio.create_task(wait())
    await asyncio.gather(*(enter() for _ in range(5)))
    event.set()
    forever = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    forever.cancel()
    try:
        await asyncio.shield(forever)
    except asyncio.CancelledError:
        return await waiting, peak, "cancelled"
result = asyncio.run(main())
`},
	script{name: "streams over a socket pair", result: `"hello"`, source: `
import asyncio, socket
async def main():
    left, right = socket.socketpair()
    reader, back = await asyncio.open_connection(sock=left)
    other, writer = await asyncio.open_connection(sock=right)
    writer.write(b"hello\n")
    await writer.drain()
    line = await reader.readline()
    writer.close(); back.close()
    return line.decode().strip()
result = asyncio.run(main())
`},
	script{name: "signal handler in the loop", result: `"SIGUSR1"`, source: `
import asyncio, os, signal
async def main():
    came = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, came.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await came.wait()
    return "SIGUSR1"
result = asyncio.run(main())
`},
	script{name: "async generators, contextvars, iterators", result: `[[0, 1, 2], "inner", "outer"]`, source: `
import asyncio, contextvars
v = contextvars.ContextVar("v", default="outer")
async def count(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)
async def inner():
    v.set("inner")
    return v.get()
async def main():
    return [i async for i in count(3)], await asyncio.create_task(inner()), v.get()
result = asyncio.run(main())
`},
)

var _ = table("threads",
	script{name: "pool of 8", result: `[0, 1, 4, 9, 16, 25, 36, 49]`, source: `
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    result = list(pool.map(lambda n: n * n, range(8)))
`},
	// The started threads wait for those that could not start: with one thread too few
	// the run hangs, so its time limit is below the default of 30 s.
	script{name: "8 concurrent", limits: policy.Limits{WallTime: 10 * time.Second}, result: `8`, source: `
import threading
from concurrent.futures import ThreadPoolExecutor
barrier = threading.Barrier(8)
with ThreadPoolExecutor(8) as pool:
    result = len({pool.submit(barrier.wait) for _ in range(8)})
`},
	script{name: "lock, condition, queue", result: `[4000, 99]`, source: `
import queue, threading
count, lock, q = 0, threading.Lock(), queue.Queue(1)
def add():
    global count
    for _ in range(1000):
        with lock:
            count += 1
threads = [threading.Thread(target=add) for _ in range(4)]
threads.append(threading.Thread(target=lambda: [q.put(n) for n in range(100)]))
for t in threads: t.start()
last = [q.get() for _ in range(100)][-1]
for t in threads: t.join()
result = [count, last]
`},
	script{name: "thread-local", result: `[["a", "b", "c"], false]`, source: `
import threading
local, seen = threading.local(), []
def keep(name):
    local.name = name
    seen.append(local.name)
for name in "abc":
    t = threading.Thread(target=keep, args=(name,))
    t.start(); t.join()
result = [seen, hasattr(local, "name")]
`},
	// A daemon thread must not prevent the end of the run.
	script{name: "daemon", result: `"done"`, source: `
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
result = "done"
`},
	script{name: "joined at exit", result: `null`, stdout: "main\nthread\n", source: `
import threading, time
def late():
    time.sleep(0.2)
    print("thread")
threading.Thread(target=late).start()
print("main")
`},
	script{name: "sets the result after the main thread", result: `"from the thread"`, source: `
import threading, time
def late():
    global result
    time.sleep(0.02)
    result = "from the thread"
threading.Thread(target=late).start()
`},
	script{name: "uncaught exception", result: `"fine"`, stderr: []string{"Exception in thread", "ZeroDivisionError"}, source: `
import threading
t = threading.Thread(target=lambda: 1 / 0)
t.start(); t.join()
result = "fine"
`},
	script{name: "timer", result: `"rang"`, source: `
import threading
rang = threading.Event()
threading.Timer(0.001, rang.set).start()
rang.wait()
result = "rang"
`},
	// The main thread counts: 4 means 3 more.
	script{name: "above the limit", limits: policy.Limits{Threads: 4},
		outcome: run.Raised, exception: "RuntimeError", error: []string{"can't start new thread"},
		violation: []string{"rlimit thread"}, stderr: []string{"can't start new thread"}, source: `
import threading
stop = threading.Event()
try:
    for _ in range(50):
        threading.Thread(target=stop.wait).start()
finally:
    stop.set()
`},
	script{name: "up to the limit", limits: policy.Limits{Threads: 4}, result: `3`, source: `
import threading
barrier, passed = threading.Barrier(3), []
threads = [threading.Thread(target=lambda: passed.append(barrier.wait())) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
result = len(passed)
`},
	// The limit applies to threads that exist at the same time.
	script{name: "200 in sequence", limits: policy.Limits{Threads: 4}, result: `200`, source: `
import threading
result = 0
def count():
    global result
    result += 1
for _ in range(200):
    t = threading.Thread(target=count)
    t.start(); t.join()
`},
	script{name: "stack size", result: `10`, source: `
import threading
threading.stack_size(256 * 1024)
def deep(n):
    return n if n == 10 else deep(n + 1)
out = []
t = threading.Thread(target=lambda: out.append(deep(0)))
t.start(); t.join()
result = out[0]
`},
)

var _ = table("signals",
	script{name: "alarm with a handler", result: `"rang"`, source: `
import signal
class Rang(Exception): pass
def ring(number, frame): raise Rang
signal.signal(signal.SIGALRM, ring)
signal.alarm(1)
try:
    signal.pause()
except Rang:
    result = "rang"
`},
	script{name: "setitimer interrupts sleep", result: `"interrupted"`, source: `
import signal, time
class Stop(Exception): pass
def stop(*_): raise Stop
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.01)
try:
    time.sleep(60)
except Stop:
    result = "interrupted"
`},
	script{name: "raise_signal, sigmask, sigwait", result: `["SIGUSR1", "SIGUSR2"]`, source: `
import signal
seen = []
signal.signal(signal.SIGUSR1, lambda n, f: seen.append(signal.Signals(n).name))
signal.raise_signal(signal.SIGUSR1)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
signal.raise_signal(signal.SIGUSR2)
seen.append(signal.Signals(signal.sigwait([signal.SIGUSR2])).name)
result = seen
`},
	script{name: "default handlers", result: `["default_int_handler", true]`, source: `
import signal
result = [signal.getsignal(signal.SIGINT).__name__, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL]
`},
	script{name: "interrupts itself", outcome: run.Raised, exception: "KeyboardInterrupt", source: `
import os, signal
os.kill(os.getpid(), signal.SIGINT)
`},
	script{name: "aborts", outcome: run.Signaled, source: `
import os
os.abort()
`},
	script{name: "crashes", outcome: run.Signaled, error: []string{"SIGSEGV"}, source: `
import ctypes
ctypes.string_at(0)
`},
)

var _ = table("waiting",
	script{name: "select, poll, epoll over a pipe", result: `[true, true, true, "x"]`, source: `
import os, select
r, w = os.pipe()
os.write(w, b"x")
poll = select.poll(); poll.register(r, select.POLLIN)
epoll = select.epoll(); epoll.register(r, select.EPOLLIN)
result = [select.select([r], [], [], 1)[0] == [r], poll.poll(1000) == [(r, select.POLLIN)],
          epoll.poll(1) == [(r, select.EPOLLIN)], os.read(r, 9).decode()]
`},
	script{name: "selectors", result: `["EpollSelector", "ping"]`, source: `
import selectors, socket
left, right = socket.socketpair()
s = selectors.DefaultSelector()
s.register(left, selectors.EVENT_READ)
right.send(b"ping")
result = [type(s).__name__, s.select(1)[0][0].fileobj.recv(9).decode()]
`},
	script{name: "socket pair", result: `["request", "answer", ""]`, source: `
import socket
a, b = socket.socketpair()
with a, b:
    a.sendall(b"request"); got = b.recv(100).decode()
    b.settimeout(5); b.sendall(b"answer"); answer = a.recv(100).decode()
    b.shutdown(socket.SHUT_WR)
    result = [got, answer, a.recv(100).decode()]
`},
	script{name: "socket pair as a file", result: `"one line"`, source: `
import socket
a, b = socket.socketpair()
with a.makefile("w") as out:
    out.write("one line\n")
result = b.makefile().readline().strip()
`},
)
