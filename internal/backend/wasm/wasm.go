// Package wasm is the `wasm` tier: guests run inside of the Runner's own process, and have
// no system calls.
//
// A guest is WebAssembly. Its module is checked, rewritten so that it can be counted and
// stopped, and compiled once (engine); each run gets a memory of its own (memory). A guest
// can reach only the functions that it imports: WASI's, which show what the policy grants
// and nothing else (files), and those of cordon (guest). CPython is a module as well
// (python). This package has what a Runner calls: scripts, modules and sessions.
//
//	wasm ──▶ python ──▶ engine ──▶ guest ──▶ memory
//	              └───▶ files ───▶ rootfs, scratch ──▶ guestfs
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
	// Turns are those of the Runner, which all tiers share; nil means turns of its own,
	// bounded by Concurrent and Queue.
	Turns *backend.Turns
	// Concurrent bounds the runs under way; 0 means DefaultConcurrent.
	Concurrent int
	// Queue bounds the requests that wait; 0 means DefaultQueue.
	Queue int
	// OneShot says that there will be one run: nothing is made ahead for a second.
	OneShot bool
	// RotateAfter is about how many guests have the same seed for hashes: those that run
	// while a new one is made have the old one; 0 means DefaultRotateAfter.
	RotateAfter int
	// Interpreter interprets modules, as on processors that the compiler does not know.
	Interpreter bool
	// Uncounted leaves the counters out of Python, so that nothing can stop it: to measure
	// what they cost.
	Uncounted bool
	// Cache is the directory for compiled code. Empty means the user's own, and "none"
	// that nothing is kept.
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
