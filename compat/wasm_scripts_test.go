package compat_test

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// absence is a feature that WebAssembly lacks, and the error of a script that uses it.
type absence struct {
	what      string // for readers of this table
	exception string
	words     string   // part of the error
	violation []string // as in script
	scripts   []string // table/name
}

// wasmAbsences are the scripts of the tables that cannot work on the wasm tier. Each must fail
// with exactly this error: if a script works, the test fails.
var wasmAbsences = []absence{
	{"threads", "RuntimeError", "can't start new thread: the wasm tier has no threads", nil, []string{
		"threads/pool of 8", "threads/8 concurrent", "threads/lock, condition, queue", "threads/thread-local", "threads/daemon",
		"threads/joined at exit", "threads/sets the result after the main thread", "threads/uncaught exception", "threads/timer",
		"threads/above the limit", "threads/up to the limit", "threads/200 in sequence", "threads/stack size",
		"output/from many threads",
	}},
	{"sockets", "OSError", "the wasm tier has no network", nil, []string{
		"the network is refused/socket", "the network is refused/http.server", "the network is refused/asyncio connection",
		"waiting/socket pair", "waiting/socket pair as a file", "waiting/selectors", "asyncio/streams over a socket pair",
	}},
	{"addresses", "gaierror", "the wasm tier has no network", nil, []string{
		"the network is refused/create_connection", "the network is refused/http.client",
	}},
	{"addresses, for urllib", "URLError", "the wasm tier has no network", nil, []string{
		"the network is refused/urllib by address", "the network is refused/urllib by name",
	}},
	{"programs", "OSError", "the wasm tier starts no other programs", nil, []string{
		"processes are refused/subprocess.run", "processes are refused/subprocess with a shell",
		"processes are refused/subprocess with preexec_fn", "processes are refused/os.system", "processes are refused/os.popen",
		"processes are refused/asyncio subprocess", "processes are refused/multiprocessing.Process",
	}},
	// hasattr(os, "fork") must be False.
	{"calls that start programs", "AttributeError", "the wasm tier starts no other programs", nil, []string{
		"processes are refused/os.fork", "processes are refused/os.posix_spawn", "processes are refused/os.execv",
	}},
	{"signals", "AttributeError", "the wasm tier has no signals", nil, []string{
		"signals/alarm with a handler", "signals/setitimer interrupts sleep", "signals/raise_signal, sigmask, sigwait",
		"signals/interrupts itself", "known differences/signals with the default action are dropped",
	}},
	{"signals, for asyncio", "NotImplementedError", "the wasm tier has no signals", nil, []string{"asyncio/signal handler in the loop"}},
	{"pipes and duplicated descriptors", "AttributeError", "the wasm tier has no pipes and cannot duplicate descriptors", nil, []string{
		"files/descriptors", "waiting/select, poll, epoll over a pipe", "output/stdout and stderr to one descriptor keep their order",
	}},
	{"shared libraries", "ModuleNotFoundError", "No module named 'ctypes': the wasm tier loads no shared libraries", nil, []string{
		"tools/ctypes", "signals/crashes", "output/kept after a crash", "files are refused/ctypes with a library from /tmp",
	}},
	{"file owners", "AttributeError", "the wasm tier has no users", nil, []string{"files are refused/chown"}},
	{"Linux system calls", "AttributeError", "has no attribute 'sendfile'", nil, []string{"files/sendfile and copy_file_range"}},
	{"disk size", "AttributeError", "has no attribute 'disk_usage'", nil, []string{"files/shutil"}},
	{"users", "ModuleNotFoundError", "the wasm tier has no users", nil, []string{"process environment/user"}},
	{"Unix", "ModuleNotFoundError", "the wasm tier has no Unix below it", nil, []string{
		"files/mmap", "files/locks on files", "files are refused/flock", "processes are refused/pty", "process environment/resource",
	}},
	{"processors", "AttributeError", "the wasm tier does not know its machine", nil, []string{"process environment/processors"}},
	{"SQLite and OpenSSL", "ModuleNotFoundError", "the module is not built for the wasm tier", nil, []string{
		"databases/sqlite3 in memory", "databases/sqlite3 file in WAL mode", "databases/sqlite3 file with a rollback journal",
		"databases/sqlite3 functions, backup, full text", "hashes and secrets/ssl",
		"hashes and secrets/TLS handshake in memory fails",
	}},
	{"OpenSSL's scrypt", "AttributeError", "the module is not built for the wasm tier", nil, []string{"hashes and secrets/hashlib and hmac"}},
	{"bzip2", "ModuleNotFoundError", "No module named '_bz2': the module is not built for the wasm tier", nil, []string{"archives/in memory"}},
	{"xz", "CompressionError", "lzma module is not available", nil, []string{"archives/zip and tar"}},
	{"the C library's time zones", "AttributeError", "the wasm tier keeps time in UTC", nil, []string{"time/tzset"}},
	{"CPU time of a thread", "AttributeError", "the wasm tier has one thread", nil, []string{"time/clocks"}},
	{"devices other than /dev/null", "FileNotFoundError", "No such file or directory: '/dev/urandom'", []string{"wasm open"}, []string{
		"files/devices",
	}},
	{"host files", "FileNotFoundError", "No such file or directory: '/etc/shadow'", []string{"wasm open"}, []string{
		"files are refused/read of a host file",
	}},
	{"a file of os, which is frozen", "AttributeError", "module 'os' has no attribute '__file__'", nil, []string{
		"files are refused/write beside the standard library",
	}},
	{"an environment", "KeyError", "'HOME'", nil, []string{"process environment/environment can be changed"}},
	// The C library accepts any name as a locale, so the script does not get the error
	// that it expects.
	{"missing locales", "NameError", "'missing'", nil, []string{"text/locale"}},
}

// wasmDifferences are scripts with another expected Result on the wasm tier.
var wasmDifferences = map[string]script{
	"processes are refused/subprocess with a pipe": {result: `"OSError"`},
	"processes are refused/multiprocessing.Pool": {
		result: `"[Errno 58] the wasm tier starts no other programs (do it in Python, or ask a tool for it)"`,
	},
	"processes are refused/ProcessPoolExecutor": {
		result: `"[Errno 58] the wasm tier starts no other programs (do it in Python, or ask a tool for it)"`,
	},
	"the network is refused/asyncio server": {result: `0`},
	// Error numbers are those of WASI.
	"files are refused/too many open files":     {result: `33`},
	"files are refused/scratch is full":         {result: `false`},
	"signals/aborts":                            {outcome: run.Trapped, error: []string{"trap: unreachable"}},
	"process environment/environment variables": {result: `{}`},
	// There is no HOME, and files have no modes and no owners.
	"files/cwd is /tmp and writable": {result: `["/tmp", "text", "~"]`},
	"files/os calls":                 {result: `["renamed", 3, [["walk"], ["renamed"]], true, "0o0", 1000000000, ["a", "b"]]`},
	"archives/tar on disk":           {result: `["", "text", true]`},
	"process environment/platform":   {result: `["wasi", true, "CPython", true, false]`},
	// sys.executable has no program to name.
	"process environment/interpreter": {result: `[false, true, true, false]`},
	// Without OpenSSL, Python computes it itself, and warns that this is slow.
	"hashes and secrets/pbkdf2 and blake2": {result: `["120fb6cf", 16]`, stderr: []string{"DeprecationWarning"}},
}

// expectedOnWasm returns a script with its expected Result on the wasm tier.
func expectedOnWasm(table string, s script) script {
	name := table + "/" + s.name
	want := s
	if other, ok := wasmDifferences[name]; ok {
		want = other
	}
	for _, a := range wasmAbsences {
		if slices.Contains(a.scripts, name) {
			want = script{outcome: run.Raised, exception: a.exception, error: []string{a.words}, violation: a.violation}
		}
	}
	want.name, want.source, want.since = s.name, s.source, s.since
	want.context, want.stdin, want.variables, want.limits = s.context, s.stdin, s.variables, s.limits
	return want
}

// TestWasmScripts runs all tables on the wasm tier.
func TestWasmScripts(t *testing.T) {
	known := map[string]int{}
	for table, scripts := range tables {
		for _, s := range scripts {
			known[table+"/"+s.name]++
		}
	}
	for name := range wasmDifferences {
		known[name]--
	}
	for _, a := range wasmAbsences {
		for _, name := range a.scripts {
			known[name]--
		}
	}
	for name, left := range known {
		if left < 0 {
			t.Errorf("%s is listed twice, or does not exist", name)
		}
	}
	testScripts(t, wasmPython(t), tables, expectedOnWasm)
}
