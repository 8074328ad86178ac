// Package zygote is the host side of the fork server. It starts a CPython behind the
// walls of internal/confine, lets it fork workers ahead of demand, answers the kernel's
// questions about their system calls, and runs one guest in each worker.
//
//	Runner ── control socket ──> zygote      "fork number N", with descriptors
//	       <── "N ended with STATUS …" ──
//	       <── seccomp notifications ── zygote and all workers
//	       ── channel ──> worker             start frame (internal/wire)
//	       <── ready, done ──
//
// The zygote is trusted: it never runs guest code. A worker is trusted until
// it is sent its guest, and never after.
package zygote

import (
	_ "embed"
	"time"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
)

// The Python side is one program in two halves; see system.py. The parts that run a script
// are in internal/script.
var (
	//go:embed python/system.py
	systemPart string
	//go:embed python/worker.py
	workerPart string
	//go:embed python/start.py
	startPart string
	//go:embed python/threads.py
	threadsPart string
	//go:embed python/server.py
	serverPart string
)

// Config configures a zygote.
type Config struct {
	Plan        confine.Plan
	Interpreter interpreter.Interpreter
	Preload     []string
	// Optional lists modules that are also imported, if the interpreter has them.
	Optional []string
	// Language applies the language rules to scripts; nil means no rules.
	Language *Language
	// Modules are the rules for imported modules; nil means none.
	Modules *Modules
	// Env is added to the environment of all guests.
	Env []string
	// OneShot says that there is only one guest. The zygote then becomes its worker:
	// forking and warming up would take longer than they save.
	OneShot bool
	// CPUs chooses the CPUs of guests; nil means that no other zygote shares them.
	CPUs *CPUs
	// Untuned leaves out optimizations, to measure them.
	Untuned tuning.Set
}

// Language lists what the rules allow; nothing else is allowed.
type Language struct{ Modules, Builtins []string }

// Exit is how a worker ended, as reported by its parent.
type Exit struct {
	// Code is the exit code, or -1 for a signal.
	Code int
	// Signal is its name ("SIGSEGV"), empty if there was none.
	Signal  string
	CPUTime time.Duration
	Memory  policy.Bytes
}

// Environment is the complete os.environ of a guest. Libraries that start a thread for
// each core would hit the thread limit, so they get one thread; a worker whose guest may use
// more CPUs changes that (use_threads in threads.py). Malloc gets one arena, because each
// thread's own would reserve 64 MiB of address space.
func Environment() []string {
	return append([]string{
		"HOME=" + confine.Scratch, "TMPDIR=" + confine.Scratch, "LANG=C.UTF-8", "PATH=",
		"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1", "MALLOC_ARENA_MAX=1",
	}, script.ThreadEnvironment(1)...)
}
