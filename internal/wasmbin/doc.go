// Package wasmbin reads WebAssembly modules that strangers wrote, says what is
// wrong with them, and rewrites them so that they can be counted and stopped.
//
// The engine that runs a module checks its types. What is checked here comes
// before that: that the parts are where the format says, and that none of them is
// larger than a module has a use for, so that loading one cannot hurt.
//
// # Metering
//
// Compiled WebAssembly is a loop in Go's process that Go can neither preempt nor
// end. So before it is compiled, every module gets a counter, a global of its own,
// from which its code subtracts what it is about to do; when nothing is left, it
// calls the host, which looks at the clock, and grants more or ends the guest.
//
//   - Exact counts every instruction, at the beginning of each straight piece of
//     code. The sum depends on the module and its input alone, to the last
//     instruction. This is for modules from strangers: no path through their code
//     is longer than what was paid for it.
//   - Coarse counts one for each call and each turn of a loop. It costs less, and is
//     for code that is known, such as an interpreter.
//
// Both charge what moves or fills memory by its length. The depth of calls is
// counted in the same way, if it is asked for: the engine's own bound is a hundred
// megabytes for each guest.
package wasmbin
