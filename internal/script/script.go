// Package script runs one script inside a CPython and reports how it ended.
//
// It is written in Python, for the interpreter that runs the script. A tier that has
// such an interpreter, in a process or as WebAssembly, loads the program there. This
// package knows nothing of walls, channels and processes. internal/report reads its
// reports.
package script

import _ "embed"

var (
	//go:embed python/script.py
	scriptPart string
	//go:embed python/failures.py
	failuresPart string
	//go:embed python/values.py
	valuesPart string
	//go:embed python/randomness.py
	randomnessPart string
	//go:embed python/fonts.py
	fontsPart string
	//go:embed python/hook.py
	hookPart string
	//go:embed python/plots.py
	plotsPart string
	//go:embed python/session.py
	sessionPart string
	//go:embed python/tools.py
	toolsPart string
	//go:embed python/absent.py
	absentPart string
	//go:embed python/loop.py
	loopPart string
	//go:embed python/wasm.py
	wasmPart string
)

// Source is the part that all programs share that run scripts. Among others it defines
//
//	prepare(preload, optional)              sets up the interpreter as scripts expect it
//	load_language(code, source)             loads the rules of internal/language
//	learn_language(modules, names, ahead)   sets the rules of one policy
//	stage(builtins)                         makes the globals of a script
//	run(script, name, context, wanted, code, space, compiled, args, last)
//	                                        runs it and returns the report
//	sharing(compiled, give)                 compiles a script and passes the code to give
//	flush(), pack(report, max_size)         writes output, encodes a report
//	Randomness().renew()                    seeds again what copies of an interpreter share
func Source() string { return First() + Late() }

// First is the part of Source that every script needs.
func First() string { return scriptPart }

// Late is the rest of Source. load_late in the first part loads it, if the program has set
// the global late to its marshalled code.
func Late() string { return failuresPart + valuesPart + randomnessPart + fontsPart }

// Hooks is the part of programs that serve the calls of a hook. It needs Source, and from
// the program around it:
//
//	receive()             waits for a message: (kind, [number, function, *arguments])
//	frame(kind, payload)  makes an answer
//	send(data)            sends one
func Hooks() string { return hookPart }

// Sessions is the part of programs that serve the steps of a session. It needs Source;
// serve_session also needs what Hooks needs. It defines
//
//	Session(space, compiled, restricted).step(script, name, context, wanted, args, stdin, max_answer)
//	                                        runs a step and returns the report
//	serve_session(session, modules)         runs each step that receive() returns
func Sessions() string { return plotsPart + sessionPart }

// WasmSource is the whole program for CPython on WebAssembly. It needs a module _cordon
// with two functions, which take and return bytes:
//
//	ask(question) → answer    asks the host
//	serve(handle)             registers what the host calls: handle(frame) → report
//
// The first question is "boot". Its answer is a marshalled dict:
//
//	preload     names of modules to import
//	language    None, or a dict: modules and builtins are those of policy.Allowed;
//	            source is internal/language; code is its magic number and bytecode,
//	            if there is one
//	wasi        True to do without threads and sockets on other systems than WASI
//
// An exception means that something which the host wants is missing, such as a module.
// Otherwise the program calls serve, and the host may copy its memory. A frame is a
// marshalled list:
//
//	kind        "run", "check", "list": the variables of a session, or "complete": the name
//	            at the end of a line
//	script      its text, or the line
//	name        its name in tracebacks
//	context     any JSON value
//	variables   names of globals to report
//	args        what follows the name in sys.argv
//	restricted  whether the language rules apply; must match the image
//	tools       names of the host's functions that the script may call
//	session     whether another frame follows, which finds the same globals
//	fresh       whether this is the first frame of this copy of the memory
//	work        the directory of its files, in which it starts, or an empty text
//	code        the code of this script from an earlier guest, or None
//	ask         whether to send the code
//	max_answer  the largest report in bytes
//
// If the frame asks for the code, the next question is "code" followed by the marshalled
// code, or by nothing. It is sent once, before any guest code runs. All other questions
// are calls of tools, as JSON text:
//
//	{"tool": name, "args": […], "kwargs": {…}}
//
// The answer is {"ok": value} or {"error": {"type": "…", "message": "…"}}. If handle
// raises, or returns something that is not a report, the guest broke it.
func WasmSource() string {
	return Source() + Sessions() + toolsPart + absentPart + loopPart + wasmPart
}
