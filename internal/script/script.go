// Package script runs one script inside of a CPython, and reports its end.
//
// It is written in Python, for the interpreter that runs the script. Whoever has
// one, in a process or as WebAssembly, loads Source there as a part of its own
// program; this package knows nothing of walls, channels and processes. Its
// reports are read by internal/report.
package script

import _ "embed"

//go:embed python/script.py
var scriptPart string

// Source is the program. Among others it defines
//
//	prepare(preload)                    the interpreter as scripts expect it
//	load_language(code, source)         the rules of internal/language,
//	learn_language(modules, names, ahead)   and those of one policy
//	stage(builtins)                     the globals of a script
//	run(script, name, context, wanted, code, space, compiled, last)
//	                                    runs it, and gives the report
//	sharing(compiled, give)             compiles, and gives the code away
//	flush(), pack(report)               what to do with a report
func Source() string { return scriptPart }
