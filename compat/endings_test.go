package compat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var _ = table("exits",
	script{name: "sys.exit(0)", result: `1`, source: `
import sys
result = 1
sys.exit(0)
`},
	script{name: "sys.exit()", result: `1`, source: `
import sys
result = 1
sys.exit()
`},
	script{name: "sys.exit(None)", result: `1`, source: `
import sys
result = 1
sys.exit(None)
`},
	script{name: "sys.exit(3)", outcome: run.Exited, exit: 3, error: []string{"exit code 3"}, source: `
import sys
sys.exit(3)
`},
	script{name: "sys.exit(text)", outcome: run.Exited, exit: 1, stderr: []string{"text\n"}, source: `
import sys
sys.exit("text")
`},
	script{name: "sys.exit(-1)", outcome: run.Exited, exit: 255, source: `
import sys
sys.exit(-1)
`},
	script{name: "exit()", result: `1`, source: "result = 1\nexit()"},
	script{name: "quit(4)", outcome: run.Exited, exit: 4, source: "quit(4)"},
	script{name: "os._exit(5)", outcome: run.Exited, exit: 5, stdout: "before\n", source: `
import os
print("before")
os._exit(5)
`},
	script{name: "exit in a function, finally runs", outcome: run.Exited, exit: 6, stdout: "finally\n", source: `
import sys
def leave():
    try: sys.exit(6)
    finally: print("finally")
leave()
`},
	script{name: "atexit", stdout: "end\nsecond\nfirst\n", source: `
import atexit
atexit.register(print, "first"); atexit.register(print, "second")
print("end")
`},
	script{name: "atexit after an exception", outcome: run.Raised, exception: "ZeroDivisionError", stdout: "cleaned up\n", source: `
import atexit
atexit.register(print, "cleaned up")
1 / 0
`},
	script{name: "atexit after sys.exit", outcome: run.Exited, exit: 2, stdout: "cleaned up\n", source: `
import atexit, sys
atexit.register(print, "cleaned up")
sys.exit(2)
`},
	script{name: "exception in atexit", stdout: "other\n", stderr: []string{"ZeroDivisionError"}, source: `
import atexit
atexit.register(print, "other")
atexit.register(lambda: 1 / 0)
`},
)

var _ = table("output",
	script{name: "print without a newline", stdout: "no newline", source: `print("no newline", end="")`},
	script{name: "sys.stdout.write", stdout: "raw", source: `
import sys
sys.stdout.write("raw")
`},
	script{name: "bytes", stdout: "text\nbytes", source: `
import sys
print("text")
sys.stdout.buffer.write(b"bytes")
`},
	script{name: "os.write", stdout: "first\nsecond\n", source: `
import os
print("first")
os.write(1, b"second\n")
`},
	script{name: "stderr", stdout: "out\n", stderr: []string{"err\n", "more\n"}, source: `
import sys
print("out")
print("err", file=sys.stderr)
sys.stderr.write("more\n")
`},
	script{name: "stdout and stderr to one descriptor keep their order", stdout: "1\n2\n3\n", source: `
import os, sys
os.dup2(1, 2)
print(1)
print(2, file=sys.stderr)
print(3)
`},
	script{name: "redirected", result: `"inside\n"`, stdout: "outside\n", source: `
import contextlib, io
out = io.StringIO()
with contextlib.redirect_stdout(out): print("inside")
print("outside")
result = out.getvalue()
`},
	script{name: "unicode", stdout: "ä€😀\n", source: `print("ä€😀")`},
	script{name: "closed", result: `"still here"`, stdout: "x\n", source: `
import sys
print("x")
sys.stdout.close()
result = "still here"
`},
	script{name: "not a terminal", result: `[false, false, false, "utf-8", "utf-8", 80]`, source: `
import os, shutil, sys
result = [sys.stdin.isatty(), sys.stdout.isatty(), os.isatty(2), sys.stdout.encoding, sys.getfilesystemencoding(), shutil.get_terminal_size().columns]
`},
	script{name: "from many threads", check: func(t *testing.T, res run.Result) {
		if n := strings.Count(res.Stdout, "line\n"); n != 800 {
			t.Errorf("%d lines, want 800", n)
		}
	}, stdout: strings.Repeat("line\n", 800), source: `
import sys, threading
def say():
    for _ in range(100): sys.stdout.write("line\n")
threads = [threading.Thread(target=say) for _ in range(8)]
for t in threads: t.start()
`},
	script{name: "truncated at the limit", limits: policy.Limits{Output: 1000}, stdout: strings.Repeat("x", 1000),
		result: `"went on"`, check: func(t *testing.T, res run.Result) {
			if !res.StdoutTruncated || res.StdoutSize != 100_000 {
				t.Errorf("truncated %v, size %d", res.StdoutTruncated, res.StdoutSize)
			}
		}, source: `
print("x" * 100000, end="")
result = "went on"
`},
	// Users debug a timeout with the output before it.
	script{name: "kept after a timeout", limits: policy.Limits{WallTime: 300 * time.Millisecond},
		outcome: run.TimedOut, error: []string{"wall time limit of 300ms"}, stdout: "got here\n", stderr: []string{"here too\n"}, source: `
import sys, time
print("got here")
print("here too", file=sys.stderr)
time.sleep(60)
`},
	script{name: "kept after a CPU limit", limits: policy.Limits{CPUTime: time.Second},
		outcome: run.OutOfCPU, error: []string{"CPU time limit of 1s"}, stdout: "got here\n", source: `
print("got here")
while True: pass
`},
	script{name: "kept after a memory limit", limits: policy.Limits{Memory: 64 * policy.MiB},
		outcome: run.OutOfMemory, error: []string{"memory limit of 64MiB"}, stdout: "got here\n", stderr: []string{""}, source: `
print("got here")
x = []
while True: x.append(bytes(1 << 20))
`},
	script{name: "kept after a crash", outcome: run.Signaled, stdout: "got here\n", source: `
import ctypes
print("got here")
ctypes.string_at(0)
`},
)

var _ = table("input",
	script{name: "input()", stdin: "Ann\n42\n", stdout: "name? age? ", result: `["Ann", 42]`, source: `
result = [input("name? "), int(input("age? "))]
`},
	script{name: "sys.stdin", stdin: "a\nb\nc", result: `["a\n", ["b\n", "c"], ""]`, source: `
import sys
result = [sys.stdin.readline(), list(sys.stdin), sys.stdin.read()]
`},
	script{name: "bytes", stdin: "ä\x00", result: `[195, 164, 0]`, source: `
import sys
result = list(sys.stdin.buffer.read())
`},
	script{name: "more than a pipe holds", stdin: strings.Repeat("0123456789abcdef", 1<<16), result: `1048576`, source: `
import sys
result = len(sys.stdin.read())
`},
	// A guest that reads nothing must not block the host.
	script{name: "unread", stdin: strings.Repeat("x", 1<<20), result: `"done"`, source: `result = "done"`},
	script{name: "none given", outcome: run.Raised, exception: "EOFError", source: `input()`},
	script{name: "getpass", outcome: run.Raised, exception: "EOFError", stderr: []string{""}, source: `
import getpass
getpass.getpass()
`},
)

// The guest's environment, as documented.
var _ = table("process environment",
	script{name: "environment variables", result: `{"HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "PATH": "",
 "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
 "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}`, source: `
import os
result = dict(os.environ)
`},
	script{name: "environment can be changed", result: `["1", null]`, source: `
import os
os.environ["X"] = "1"; os.putenv("Y", "2"); del os.environ["HOME"]
result = [os.getenv("X"), os.getenv("HOME")]
`},
	script{name: "user", result: `["guest", "guest", "guest", "/tmp"]`, source: `
import getpass, grp, os, pwd
result = [getpass.getuser(), pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name, os.path.expanduser("~")]
`},
	// platform.platform() tries to start uname(1), and works without it.
	script{name: "platform", violation: anyViolation, result: `["Linux", true, "CPython", true, true]`, source: `
import os, platform, sysconfig
result = [platform.system(), bool(platform.machine()), platform.python_implementation(), bool(platform.platform()), os.uname().sysname == "Linux"]
`},
	script{name: "processors", result: `[true, true]`, source: `
import os
result = [os.cpu_count() >= 1, len(os.sched_getaffinity(0)) >= 1]
`},
	script{name: "resource", result: `[true, 64, 0]`, source: `
import resource
result = [resource.getrusage(resource.RUSAGE_SELF).ru_utime >= 0, resource.getrlimit(resource.RLIMIT_NOFILE)[0],
          resource.getrlimit(resource.RLIMIT_CORE)[0]]
`},
	script{name: "interpreter", result: `[true, true, true, false]`, source: `
import sys
result = [sys.executable != "", sys.flags.isolated == 1, sys.flags.utf8_mode == 1, "/tmp" in sys.path or "" in sys.path]
`},
	script{name: "the standard library imports", since: 10, result: `[]`, stderr: []string{""}, violation: anyViolation, source: standardLibrary},
)

// Known differences from an ordinary process, and their reasons. They are documented: update the
// documentation when they change.
var _ = table("known differences",
	// The guest is the first process of its pid namespace, and the kernel drops signals
	// to it unless it has a handler.
	script{name: "signals with the default action are dropped", result: `["still here", 1]`, source: `
import os, signal
os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), signal.SIGKILL)
result = ["still here", os.getpid()]
`},
	script{name: "there is no /proc and no /sys", result: `[false, false]`, source: `
import os
result = [os.path.exists("/proc"), os.path.exists("/sys")]
`},
)

// standardLibrary imports all modules that the interpreter lists, except those that Debian lacks
// or that need a display.
const standardLibrary = `
import importlib, sys, warnings
warnings.simplefilter("ignore")
skip = {"antigravity", "this", "idlelib", "lib2to3", "turtledemo", "turtle", "tkinter", "_tkinter", "ensurepip", "distutils", "__main__",
        "__phello__", "_aix_support", "_osx_support", "_ios_support", "_android_support", "_apple_support", "_bootsubprocess"}
result = []
for name in sorted(sys.stdlib_module_names - skip):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        pass
    except BaseException as e:
        result.append("%s: %r" % (name, e))
`
