// Package script runs one script inside of a CPython, and reports its end.
//
// It is written in Python, for the interpreter that runs the script. Whoever has
// one, in a process or as WebAssembly, loads it there; this package knows nothing
// of walls, channels and processes. Its reports are read by internal/report.
package script

import _ "embed"

var (
	//go:embed python/script.py
	scriptPart string
	//go:embed python/failures.py
	failuresPart string
	//go:embed python/randomness.py
	randomnessPart string
	//go:embed python/tools.py
	toolsPart string
	//go:embed python/absent.py
	absentPart string
	//go:embed python/loop.py
	loopPart string
	//go:embed python/wasm.py
	wasmPart string
)

// Source is what every program has in common that runs scripts, and becomes a
// part of it. Among others it defines
//
//	prepare(preload)                        the interpreter as scripts expect it
//	load_language(code, source)             the rules of internal/language,
//	learn_language(modules, names, ahead)   and those of one policy
//	stage(builtins)                         the globals of a script
//	run(script, name, context, wanted, code, space, compiled, last)
//	                                        runs it, and gives the report
//	sharing(compiled, give)                 compiles, and gives the code away
//	flush(), pack(report, most)             what to do with a report
//	Randomness().renew()                    seeds anew what copies of it have in common
func Source() string { return failuresPart + scriptPart + randomnessPart }

// WasmSource is the whole program for CPython on WebAssembly. It needs a module
// _cordon with two functions, both of which have bytes on both sides:
//
//	ask(question) → answer    asks the host
//	serve(handle)             says what the host is to call: handle(frame) → report
//
// The first question is "boot". Its answer is a marshalled dict:
//
//	preload     names of modules to import
//	language    None, or a dict: what policy.Allowed gives as modules and builtins;
//	            internal/language as source; its magic number and bytecode as code,
//	            if there is one
//	wasi        True to do without threads and sockets elsewhere than on WASI
//
// An exception means that the host wants what there is not, such as a module. Then
// the program calls serve, and the host may copy its memory. A frame is a marshalled
// list:
//
//	kind        "run" or "check"
//	script      its text
//	name        its name in tracebacks
//	context     any JSON value
//	variables   names of globals to report
//	restricted  whether by the language rules; must be what the image is for
//	tools       names of the host's functions that the script may call
//	session     whether another frame will come, to find the same globals
//	fresh       whether this is the first frame of this copy of a memory
//	code        what an earlier guest gave as the script's code, or None
//	ask         whether to give the code
//	most        bytes that the report may take
//
// Further questions begin with "code", followed by the marshalled code or nothing,
// once, before anything of the guest's runs, if the frame asks for it; or are a call
// of a tool, as JSON text:
//
//	{"tool": name, "args": […], "kwargs": {…}}
//
// to be answered with {"ok": value} or {"error": {"type": "…", "message": "…"}}.
// A handle that raises, or gives what is no report, was broken by its guest.
func WasmSource() string { return Source() + toolsPart + absentPart + loopPart + wasmPart }
