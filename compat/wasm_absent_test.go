package compat_test

import (
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// wasmRefusals use features that WebAssembly lacks. They fail at once, with a clear error: an
// agent that reads "no threads" continues without them.
var wasmRefusals = []script{
	{name: "threads", exception: "RuntimeError", error: []string{"has no threads", "asyncio"}, source: `
import threading
threading.Thread(target=print).start()
`},
	{name: "thread pool", exception: "RuntimeError", error: []string{"has no threads"}, source: `
import asyncio, concurrent.futures
async def main():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        await asyncio.get_running_loop().run_in_executor(pool, print)
asyncio.run(main())
`},
	{name: "socket", exception: "OSError", error: []string{"has no network", "as input"}, source: `
import socket
socket.socket()
`},
	{name: "host name lookup", exception: "gaierror", error: []string{"has no network"}, source: `
import socket
socket.getaddrinfo("example.com", 80)
`},
	{name: "asyncio connection", exception: "OSError", error: []string{"has no network"}, source: `
import asyncio
asyncio.run(asyncio.open_connection("example.com", 443))
`},
	{name: "asyncio server", exception: "OSError", error: []string{"has no network"}, source: `
import asyncio
asyncio.run(asyncio.start_server(print, "127.0.0.1", 0))
`},
	{name: "event loop without events", exception: "RuntimeError", error: []string{"all coroutines wait"}, source: `
import asyncio
asyncio.run(asyncio.Event().wait())
`},
	{name: "HTTPS", exception: "URLError", error: []string{"has no network"}, source: `
import urllib.request
urllib.request.urlopen("https://example.com/")
`},
	{name: "program", exception: "OSError", error: []string{"starts no other programs", "do it in Python"}, source: `
import subprocess
subprocess.run(["ls"])
`},
	{name: "shell", exception: "OSError", error: []string{"starts no other programs"}, source: `
import os
os.system("ls")
`},
	{name: "fork", exception: "AttributeError", error: []string{"'fork'", "starts no other programs"}, source: `
import os
os.fork()
`},
	{name: "process", exception: "OSError", error: []string{"starts no other programs"}, source: `
import multiprocessing
multiprocessing.Process(target=print).start()
`},
	{name: "process pool", exception: "OSError", error: []string{"starts no other programs"}, source: `
import multiprocessing
multiprocessing.Pool(2)
`},
	{name: "multiprocessing queue", exception: "OSError", error: []string{"starts no other programs"}, source: `
import multiprocessing
multiprocessing.Queue()
`},
	{name: "asyncio subprocess", exception: "OSError", error: []string{"starts no other programs"}, source: `
import asyncio
asyncio.run(asyncio.create_subprocess_shell("ls"))
`},
	{name: "shared library", exception: "ModuleNotFoundError", error: []string{"No module named 'ctypes'", "loads no shared libraries"}, source: `
import ctypes
`},
	{name: "compiled library", exception: "ModuleNotFoundError", error: []string{"No module named 'numpy'", "only has the standard library"}, source: `
import numpy as np
`},
	{name: "database", exception: "ModuleNotFoundError", error: []string{"No module named 'sqlite3'", "not built"}, source: `
import sqlite3
`},
	{name: "alarm", exception: "AttributeError", error: []string{"'alarm'", "has no signals"}, source: `
import signal
signal.alarm(1)
`},
	{name: "setitimer", exception: "AttributeError", error: []string{"'setitimer'", "has no signals"}, source: `
import signal
signal.setitimer(0, 1)
`},
	{name: "signal", exception: "AttributeError", error: []string{"'kill'", "has no signals"}, source: `
import os
os.kill(os.getpid(), 9)
`},
	{name: "asyncio signal handler", exception: "NotImplementedError", error: []string{"has no signals"}, source: `
import asyncio, signal
async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, print)
asyncio.run(main())
`},
	{name: "pipe", exception: "AttributeError", error: []string{"'pipe'", "has no pipes"}, source: `
import os
os.pipe()
`},
	{name: "input at EOF", exception: "EOFError", error: []string{"EOF when reading a line"}, source: `input()`},
}

// wasmFeatureChecks are scripts that check for a feature and find that it is missing, as on any
// platform.
var wasmFeatureChecks = []script{
	{name: "missing attributes", result: `[false, false, false, false]`, source: `
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
	{name: "misspelled attribute", exception: "AttributeError", outcome: run.Raised,
		error: []string{"module 'os' has no attribute 'lisdir' (line 3)"}, source: `
import os
os.lisdir("/")
`},
}

// wasmWaits wait for a time: they end on time, and at the latest at the time limit.
var wasmWaits = []script{
	{name: "sleep", result: `true`, source: `
import time
began = time.monotonic()
time.sleep(0.05)
result = time.monotonic() - began >= 0.05
`},
	{name: "CPU time does not exceed wall time", result: `true`, source: `
import time
passed, began = time.perf_counter(), time.process_time()
sum(range(1000))
result = 0 <= time.process_time() - began <= time.perf_counter() - passed
`},
	{name: "sleep ends at the time limit", limits: policy.Limits{WallTime: 300 * time.Millisecond},
		outcome: run.TimedOut, error: []string{"wall time limit of 300ms"}, source: `
import time
time.sleep(3600)
`},
	{name: "asyncio.sleep ends at the time limit", limits: policy.Limits{WallTime: time.Second},
		outcome: run.TimedOut, error: []string{"wall time limit of 1s"}, source: `
import asyncio
asyncio.run(asyncio.sleep(3600))
`},
	{name: "lock that is never released", limits: policy.Limits{WallTime: time.Second},
		outcome: run.TimedOut, error: []string{"wall time limit of 1s"}, source: `
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
`},
	{name: "event loop", result: `[[0, 1, 4], "late", "late too", [0, 1, 2], "in time"]`, source: `
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

// TestWasmAbsences runs the scripts of all three tables on the wasm tier.
func TestWasmAbsences(t *testing.T) {
	r := wasmPython(t).runner(t, policy.Policy{})
	for _, s := range wasmRefusals {
		s.outcome, s.violation = run.Raised, anyViolation
		t.Run(s.name, func(t *testing.T) { t.Parallel(); s.test(t, r) })
	}
	for _, s := range append(wasmFeatureChecks, wasmWaits...) {
		t.Run(s.name, func(t *testing.T) { t.Parallel(); s.test(t, r) })
	}
}
