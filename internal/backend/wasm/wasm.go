// Package wasm is the `wasm` tier: guests inside of the Runner's own process, whose
// world has no system calls.
//
// A guest is WebAssembly. It is checked and rewritten so that it can be counted and
// stopped (internal/wasmbin), compiled once (engine.go, cache.go), and gets a memory of
// its own for each run (memory.go). What it can reach are the functions that it imports:
// WASI's, behind which stand what the policy grants and nothing else (wasi.go), and
// those of cordon itself (host.go). From what was seen a Result is made (judge.go).
package wasm

import (
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
)

// Options say how the tier is run.
type Options struct {
	Policy policy.Policy
	// Idle is how many interpreters wait for a script; 0 means DefaultIdle.
	Idle int
	// Turns are those of the Runner, which all tiers share; nil means Concurrent and
	// Queue of its own.
	Turns *backend.Turns
	// Concurrent bounds the runs under way; 0 means DefaultConcurrent.
	Concurrent int
	// Queue bounds the requests that wait; 0 means DefaultQueue.
	Queue int
	// OneShot says that there will be one run: nothing is kept for a second.
	OneShot bool
	// RotateAfter is how many guests have the same seed for hashes, more or less: a new
	// one is made meanwhile; 0 means DefaultRotateAfter.
	RotateAfter int
	// Interpreter has modules interpreted, as on processors that the compiler does not
	// know.
	Interpreter bool
	// Uncounted leaves the counters out of Python, so that nothing can stop it: to see
	// what they cost.
	Uncounted bool
	// Cache is the directory for compiled code. Empty means the user's own, and "none" that
	// there is none.
	Cache string
}

// Defaults of Options.
const (
	DefaultIdle       = 8
	DefaultConcurrent = 64
	DefaultQueue      = 4096

	DefaultRotateAfter = 10_000
)

func (o Options) resolved() Options {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.OneShot {
		o.Idle = 0
	}
	if o.Concurrent <= 0 {
		o.Concurrent = DefaultConcurrent
	}
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.Turns == nil {
		o.Turns = backend.NewTurns(o.Concurrent, o.Queue)
	}
	if o.RotateAfter <= 0 {
		o.RotateAfter = DefaultRotateAfter
	}
	return o
}
