package compat_test

import (
	"github.com/cordon-sandbox/cordon/run"
)

// A wall must refuse at once and with a clear error: an agent that reads "PermissionError" stops,
// but an agent whose script hangs tries again.

var _ = table("processes are refused",
	script{name: "subprocess.run", outcome: run.Raised, exception: "PermissionError",
		error: []string{"Operation not permitted"}, violation: []string{newProcess}, source: `
import subprocess
subprocess.run(["ls"])
`},
	script{name: "subprocess with a pipe", result: `"PermissionError"`, violation: []string{newProcess}, source: `
import subprocess
try:
    subprocess.check_output(["/bin/echo", "hi"], stderr=subprocess.STDOUT, timeout=5)
except OSError as e:
    result = type(e).__name__
`},
	script{name: "subprocess with a shell", outcome: run.Raised, exception: "PermissionError",
		violation: []string{newProcess}, source: `
import subprocess
subprocess.Popen("echo hi", shell=True).wait()
`},
	script{name: "subprocess with preexec_fn", outcome: run.Raised, exception: "PermissionError",
		violation: []string{newProcess}, source: `
import subprocess
subprocess.run(["ls"], preexec_fn=lambda: None)
`},
	script{name: "os.fork", outcome: run.Raised, exception: "PermissionError", violation: []string{newProcess}, source: `
import os
os.fork()
`},
	script{name: "os.system", violation: []string{newProcess}, result: `true`, source: `
import os
result = os.system("true") != 0
`},
	script{name: "os.popen", outcome: run.Raised, exception: "PermissionError", violation: []string{newProcess}, source: `
import os
os.popen("true").read()
`},
	script{name: "os.posix_spawn", outcome: run.Raised, exception: "PermissionError", violation: []string{newProcess}, source: `
import os
os.posix_spawn("/bin/true", ["true"], {})
`},
	script{name: "os.execv", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp execve"}, source: `
import os, sys
os.execv("/bin/true", ["true"])
`},
	script{name: "asyncio subprocess", outcome: run.Raised, exception: "PermissionError",
		violation: []string{newProcess}, source: `
import asyncio
async def main():
    await asyncio.create_subprocess_exec("ls")
asyncio.run(main())
`},
	script{name: "multiprocessing.Process", outcome: run.Raised, exception: "PermissionError", violation: []string{newProcess}, source: `
import multiprocessing
p = multiprocessing.get_context("fork").Process(target=print)
p.start()
p.join()
`},
	script{name: "pty", outcome: run.Raised, exception: "OSError", source: `
import pty
pty.openpty()
`},
	// Which calls are refused may vary, but the script must end with an error.
	script{name: "multiprocessing.Pool", result: `true`, violation: anyViolation, source: `
import multiprocessing
try:
    with multiprocessing.Pool(2) as pool:
        pool.map(abs, [1, 2])
except OSError as e:
    result = isinstance(e, PermissionError) or str(e)
`},
	script{name: "ProcessPoolExecutor", result: `true`, violation: anyViolation, source: `
from concurrent.futures import ProcessPoolExecutor
try:
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(abs, [1, 2]))
except OSError as e:
    result = isinstance(e, PermissionError) or str(e)
`},
	script{name: "webbrowser", result: `false`, source: `
import webbrowser
try:
    result = webbrowser.open("http://example.com")
except webbrowser.Error:
    result = False
`},
)

var _ = table("the network is refused",
	script{name: "socket", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp socket"}, source: `
import socket
socket.socket()
`},
	script{name: "create_connection", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp socket"}, source: `
import socket
socket.create_connection(("127.0.0.1", 80), timeout=5)
`},
	script{name: "urllib by address", outcome: run.Raised, exception: "URLError",
		error: []string{"Operation not permitted"}, violation: []string{"seccomp socket"}, source: `
import urllib.request
urllib.request.urlopen("http://127.0.0.1/", timeout=5)
`},
	// Names cannot be looked up either; the resolver has its own message for that.
	script{name: "urllib by name", outcome: run.Raised, exception: "URLError", violation: anyViolation, source: `
import urllib.request
urllib.request.urlopen("https://example.com/", timeout=5)
`},
	script{name: "http.client", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp socket"}, source: `
import http.client
http.client.HTTPConnection("127.0.0.1", timeout=5).request("GET", "/")
`},
	script{name: "http.server", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp socket"}, source: `
import http.server
http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
`},
	script{name: "asyncio connection", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp socket"}, source: `
import asyncio
asyncio.run(asyncio.open_connection("127.0.0.1", 80))
`},
	// asyncio treats a refused socket as an address family that the host lacks and tries
	// the next one, so a server may listen nowhere.
	script{name: "asyncio server", result: `0`, violation: []string{"seccomp socket"}, source: `
import asyncio
async def main():
    try:
        server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    except OSError:
        return 0
    return len(server.sockets)
result = asyncio.run(main())
`},
)

var _ = table("files are refused",
	script{name: "read of a host file", outcome: run.Raised, exception: "FileNotFoundError",
		error: []string{"/etc/shadow"}, violation: []string{"mount open"}, source: `
open("/etc/shadow")
`},
	script{name: "write beside the standard library", outcome: run.Raised, exception: "OSError",
		error: []string{"Read-only file system"}, violation: []string{"mount open"}, source: `
import os
open(os.path.join(os.path.dirname(os.__file__), "mine.py"), "w")
`},
	script{name: "chown", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp chown"}, source: `
import os
open("f", "w").close()
os.chown("f", 0, 0)
`},
	// A whole-file lock needs no write access: one run could block others through the
	// interpreter's own files.
	script{name: "flock", outcome: run.Raised, exception: "PermissionError", violation: []string{"seccomp flock"}, source: `
import fcntl
with open("lock", "w") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
`},
	// The tmpfs refuses to execute files; nothing here may hang.
	script{name: "ctypes with a library from /tmp", outcome: run.Raised, exception: "OSError", source: `
import ctypes, pathlib
pathlib.Path("mine.so").write_bytes(b"\x7fELF" + bytes(60))
ctypes.CDLL("/tmp/mine.so")
`},
	// EFBIG or ENOSPC: one file as large as the scratch reaches both limits.
	script{name: "scratch is full", result: `true`, source: `
try:
    with open("big", "wb", buffering=0) as f:
        while True:
            if f.write(bytes(1 << 20)) < 1 << 20: f.write(bytes(1 << 20))
except OSError as e:
    result = e.errno in (27, 28)
`},
	script{name: "too many open files", result: `24`, source: `
import os
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError as e:
    result = e.errno
`},
)
