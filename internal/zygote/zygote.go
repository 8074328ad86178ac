// Package zygote is the host side of the fork server: it starts a CPython
// behind the walls of a jail, has it fork workers ahead of demand, answers
// for them when the kernel asks about a system call, and runs one guest in
// each.
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
	"github.com/cordon-sandbox/cordon/policy"
)

// The Python side is one program in five parts, which need each other and are
// compiled as one. What it does with a script is not its own: internal/script.
var (
	//go:embed python/system.py
	systemPart string
	//go:embed python/worker.py
	workerPart string
	//go:embed python/hook.py
	hookPart string
	//go:embed python/server.py
	serverPart string
)

// Config is what a zygote is started with.
type Config struct {
	Plan        confine.Plan
	Interpreter interpreter.Interpreter
	Preload     []string
	// Language has scripts go by the language rules; nil means that they may say
	// what they like.
	Language *Language
	// Env is added to the environment of all guests.
	Env []string
	// OneShot says that there will be one guest. The zygote becomes its worker
	// then: a fork, and warming up, would take longer than they save.
	OneShot bool
}

// Language is what the rules allow, complete.
type Language struct{ Modules, Builtins []string }

// Exit is how a worker ended, as its parent saw it.
type Exit struct {
	// Code is the exit code, or -1 for a signal.
	Code int
	// Signal is its name ("SIGSEGV"), empty when there was none.
	Signal  string
	CPUTime time.Duration
	Memory  policy.Bytes
}

// Environment is what a guest finds in os.environ, and all of it. Libraries
// that start a thread for each core would meet the thread limit: they get one.
// So does malloc get one arena: each thread's own would reserve 64 MiB of the
// address space.
func Environment() []string {
	return []string{
		"HOME=" + confine.Scratch, "TMPDIR=" + confine.Scratch, "LANG=C.UTF-8", "PATH=",
		"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
		"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1",
		"MALLOC_ARENA_MAX=1",
	}
}
