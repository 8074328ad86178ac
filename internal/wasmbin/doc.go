// Package wasmbin reads WebAssembly modules that strangers wrote, says what is
// wrong with them, and rewrites them so that they can be counted and stopped.
//
// The engine that runs a module checks its types. What is checked here comes
// before that: that the parts are where the format says, that none of them is
// larger than a module has a use for, so that loading one cannot hurt, and that the
// module names nothing that is not its own. The engine never sees a stranger's bytes,
// but what was understood of them, written anew: two readers that do not agree on where
// an instruction ends would be a way around all that follows.
//
// # Metering
//
// Compiled WebAssembly is a loop in Go's process that Go can neither preempt nor
// end. So before it is compiled, every module gets a counter, a global of its own,
// from which its code subtracts what it is about to do. At the beginning of functions,
// in each turn of a loop, and wherever a path gets long, it looks at the counter; when
// nothing is left, it calls the host, which looks at the clock, and grants more or
// ends the guest.
//
//   - Exact counts every instruction. The sum depends on the module and its input
//     alone, to the last instruction, on every engine. A guest stops at the first
//     look after its budget is used up, and so the same input stops at the same
//     instruction. This is for modules from strangers.
//   - Coarse counts the looks: turns of loops, and calls of functions that can come
//     back to themselves or do much. It costs less, and is for code that is known, such as an
//     interpreter: few functions have to look, so that between two looks a call does
//     little.
//
// Both charge what moves or fills memory by its length, 64 bytes for one instruction,
// before it runs; what grows memory or tables, after it has. Of code that traps, the
// count is that of the last call before it.
//
// # The stack
//
// The engine's own bound for the depth of calls is a hundred megabytes for each guest.
// So the room that is left for calls is counted in the same way, if it is asked for,
// in words of 8 bytes: each call takes as many as its function can need at most, and
// a guest that has no room left is ended. Functions that call nothing are not
// accounted for; there is never more than one of them.
//
// # What this does not do
//
// It does not check types: that is the engine's part, on what comes out of here. It
// does not bound memory: the host gives the engine a limit. A single instruction
// that copies or fills memory is not interrupted: the limit on memory is one on its
// time, too.
package wasmbin
