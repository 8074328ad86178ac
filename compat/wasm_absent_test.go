package compat_test

import (
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A feature that WebAssembly lacks fails at once, with a clear error: an agent that reads "no
// threads" continues without them.
var wasmRefusals = []script{
	{name: "threads", exception: "RuntimeError", error: []string{"has no threads", "asyncio"}, source: `
import threading
threading.Thread(target=print).start()
`},
	{name: "an executor", exception: "RuntimeError", error: []string{"has no threads"}, source: `
import asyncio, concurrent.futures
async def main():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        await asyncio.get_running_loop().run_in_executor(pool, print)
asyncio.run(main())
`},
	{name: "a socket", exception: "OSError", error: []string{"has no network", "as input"}, source: `
import socket
socket.socket()
`},
	{name: "a name of a host", exception: "gaierror", error: []string{"has no network"}, source: `
import socket
socket.getaddrinfo("example.com", 80)
`},
	{name: "an event loop that connects", exception: "OSError", error: []string{"has no network"}, source: `
import asyncio
asyncio.run(asyncio.open_connection("example.com", 443))
`},
	{name: "an event loop that serves", exception: "OSError", error: []string{"has no network"}, source: `
import asyncio
asyncio.run(asyncio.start_server(print, "127.0.0.1", 0))
`},
	{name: "an event loop with nothing to wait for", exception: "RuntimeError", error: []string{"all coroutines wait"}, source: `
import asyncio
asyncio.run(asyncio.Event().wait())
`},
	{name: "HTTPS", exception: "URLError", error: []string{"has no network"}, source: `
import urllib.request
urllib.request.urlopen("https://example.com/")
`},
	{name: "a program", exception: "OSError", error: []string{"starts no other programs", "do it in Python"}, source: `
import subprocess
subprocess.run(["ls"])
`},
	{name: "a shell", exception: "OSError", error: []string{"starts no other programs"}, source: `
import os
os.system("ls")
`},
	{name: "a fork", exception: "AttributeError", error: []string{"'fork'", "starts no other programs"}, source: `
import os
os.fork()
`},
	{name: "a process", exception: "OSError", error: []string{"starts no other programs"}, source: `
import multiprocessing
multiprocessing.Process(target=print).start()
`},
	{name: "processes for a pool", exception: "OSError", error: []string{"starts no other programs"}, source: `
import multiprocessing
multiprocessing.Pool(2)
`},
	{name: "a queue between processes", exception: "OSError", error: []string{"starts no other programs"}, source: `
import multiprocessing
multiprocessing.Queue()
`},
	{name: "an event loop that starts a program", exception: "OSError", error: []string{"starts no other programs"}, source: `
import asyncio
asyncio.run(asyncio.create_subprocess_shell("ls"))
`},
	{name: "a shared library", exception: "ModuleNotFoundError", error: []string{"No module named 'ctypes'", "loads no shared libraries"}, source: `
import ctypes
`},
	{name: "a library that is compiled", exception: "ModuleNotFoundError", error: []string{"No module named 'numpy'", "only has the standard library"}, source: `
import numpy as np
`},
	{name: "a database", exception: "ModuleNotFoundError", error: []string{"No module named 'sqlite3'", "not built"}, source: `
import sqlite3
`},
	{name: "an alarm", exception: "AttributeError", error: []string{"'alarm'", "has no signals"}, source: `
import signal
signal.alarm(1)
`},
	{name: "a timer", exception: "AttributeError", error: []string{"'setitimer'", "has no signals"}, source: `
import signal
signal.setitimer(0, 1)
`},
	{name: "a signal", exception: "AttributeError", error: []string{"'kill'", "has no signals"}, source: `
import os
os.kill(os.getpid(), 9)
`},
	{name: "a signal for an event loop", exception: "NotImplementedError", error: []string{"has no signals"}, source: `
import asyncio, signal
async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, print)
asyncio.run(main())
`},
	{name: "a pipe", exception: "AttributeError", error: []string{"'pipe'", "has no pipes"}, source: `
import os
os.pipe()
`},
	{name: "input at its end", exception: "EOFError", error: []string{"EOF when reading a line"}, source: `input()`},
}

// Scripts that check for a feature find that it is missing, as on any platform.
var wasmQuestions = []script{
	{name: "names", result: `[false, false, false, false]`, source: `
import os, signal, time
result = [hasattr(os, "fork"), hasattr(os, "pipe"), hasattr(signal, "alarm"), hasattr(time, "tzset")]
`},
	{name: "modules", result: `[null, null, false]`, source: `
import importlib.util
try:
    import numpy
except ImportError as e:
    numpy = None
result = [importlib.util.find_spec("ctypes"), importlib.util.find_spec("numpy"), bool(numpy)]
`},
	{name: "a misspelt name", exception: "AttributeError", outcome: run.Raised,
		error: []string{"module 'os' has no attribute 'lisdir' (line 3)"}, source: `
import os
os.lisdir("/")
`},
}

// Waiting for a time works, and ends in time.
var wasmWaits = []script{
	{name: "sleeps", result: `true`, source: `
import time
began = time.monotonic()
time.sleep(0.05)
result = time.monotonic() - began >= 0.05
`},
	{name: "its own time is not more than what passes", result: `true`, source: `
import time
passed, began = time.perf_counter(), time.process_time()
sum(range(1000))
result = 0 <= time.process_time() - began <= time.perf_counter() - passed
`},
	{name: "sleeps no longer than it may", limits: policy.Limits{WallTime: 300 * time.Millisecond},
		outcome: run.TimedOut, error: []string{"wall time limit of 300ms"}, source: `
import time
time.sleep(3600)
`},
	{name: "an event loop sleeps no longer than it may", limits: policy.Limits{WallTime: time.Second},
		outcome: run.TimedOut, error: []string{"wall time limit of 1s"}, source: `
import asyncio
asyncio.run(asyncio.sleep(3600))
`},
	{name: "a lock that nobody opens", limits: policy.Limits{WallTime: time.Second},
		outcome: run.TimedOut, error: []string{"wall time limit of 1s"}, source: `
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
`},
	{name: "an event loop", result: `[[0, 1, 4], "late", "late too", [0, 1, 2], "in time"]`, source: `
import asyncio
async def square(n):
    await asyncio.sleep(0.001 * (3 - n))
    return n * n
async def main():
    squares = await asyncio.gather(*map(square, range(3)))
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.01)
    except asyncio.TimeoutError:
        late = "late"
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)
    except TimeoutError:
        too = "late too"
    queue, seen = asyncio.Queue(1), []
    async def produce():
        for n in range(3):
            await queue.put(n)
    task = asyncio.create_task(produce())
    while len(seen) < 3:
        seen.append(await queue.get())
    return squares, late, too, seen, await asyncio.wait_for(asyncio.sleep(0, "in time"), 60)
result = asyncio.run(main())
`},
}

func TestWasmAbsences(t *testing.T) {
	r := wasmPython(t).runner(t, policy.Policy{})
	for _, s := range wasmRefusals {
		s.outcome, s.violation = run.Raised, anyViolation
		t.Run(s.name, func(t *testing.T) { t.Parallel(); s.test(t, r) })
	}
	for _, s := range append(wasmQuestions, wasmWaits...) {
		t.Run(s.name, func(t *testing.T) { t.Parallel(); s.test(t, r) })
	}
}
