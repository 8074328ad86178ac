// Package wasm is the `wasm` tier: guests run inside the Runner's process and have no system
// calls.
//
// A guest is a WebAssembly module. It is checked, rewritten so that its instructions can be
// counted and it can be stopped, and compiled once (engine). Each run has its own memory
// (memory). A guest can call only the functions that it imports: WASI's, which show only what
// the policy grants (files), and cordon's (guest). CPython is a module too (python). This
// package has what a Runner calls: scripts, modules and sessions.
//
//	wasm ──▶ python ──▶ engine ──▶ guest ──▶ memory
//	              └───▶ files ───▶ rootfs, scratch ──▶ guestfs
package wasm

import (
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
)

// Options configure the tier.
type Options struct {
	Policy policy.Policy
	// Idle is how many interpreters wait for a script; 0 means DefaultIdle.
	Idle int
	// Load is the Runner's; nil means that this is its only tier.
	Load *backend.Load
	// OneShot says that there will be only one run: nothing is prepared for a second.
	OneShot bool
	// RotateAfter is about how many guests have the same hash seed; 0 means
	// DefaultRotateAfter. Guests that start while a new image is made have the old seed.
	RotateAfter int
	// Interpreter interprets modules, as on processors without a compiler.
	Interpreter bool
	// Uncounted leaves the counters out of Python, to measure what they cost. Nothing can
	// stop scripts then.
	Uncounted bool
	// Cache is the directory of compiled code. Empty means one in the user's cache
	// directory, "none" disables the cache.
	Cache string
}

// Defaults of Options.
const (
	DefaultIdle = 8

	DefaultRotateAfter = 10_000
)

func (o Options) resolved() Options {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.OneShot {
		o.Idle = 0
	}
	if o.RotateAfter <= 0 {
		o.RotateAfter = DefaultRotateAfter
	}
	return o
}
