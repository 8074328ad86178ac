// Package wasmbin parses untrusted WebAssembly modules, reports errors in them, and rewrites
// them so that their instructions can be counted and they can be stopped.
//
// The engine that runs a module checks its types. This package checks before that: that the
// format is valid, that no part is larger than useful, so that loading a module is safe, and
// that the module refers only to its own parts. The engine never gets the original bytes, but
// a module that is written anew from the parsed form: if two parsers disagreed on where an
// instruction ends, a module could evade the metering.
//
// # Metering
//
// Go can neither preempt nor end compiled WebAssembly. So before it is compiled, every module
// gets a counter, a global, from which its code subtracts the cost of what it is about to do.
// At the start of functions, in each iteration of a loop, and where a path gets long, the code
// checks the counter. When nothing is left, it calls the host, which checks the clock and
// grants more or ends the guest.
//
//   - Exact counts every instruction. The sum depends only on the module and its input, on
//     every engine. A guest stops at the first check after its budget is used up, so with the
//     same input it stops at the same instruction. This is for untrusted modules.
//   - Coarse counts the checks: iterations of loops, and calls of functions that can be
//     recursive or do much. It costs less, and is for known code such as an interpreter: few
//     functions have to check, and between two checks little is done.
//
// Both charge instructions that move or fill memory by length, 64 bytes as one instruction,
// before they run, and instructions that grow memory or tables after they have run. If code
// traps, the count is that of the last call before it.
//
// # The stack
//
// The engine allows a stack of a hundred megabytes for each guest. So, if requested, the stack
// is counted in the same way, in words of 8 bytes: each call takes the maximum that its
// function can need, and a guest without room is ended. Functions that call nothing are not
// counted, because only one of them is active at a time.
//
// # What this does not do
//
// It does not check types; the engine does, on the rewritten module. It does not bound memory;
// the host gives the engine a limit. It does not interrupt a single instruction that copies or
// fills memory; the limit of memory bounds its time too.
package wasmbin
