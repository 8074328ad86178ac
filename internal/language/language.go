// Package language is a second wall, inside of the interpreter: rules for what a
// restricted script may say, and guards around what it may reach.
//
// It is written in the language that it judges. The parser that reads a script
// is the one that compiles it, and the guards see the objects that they guard.
// Whoever runs CPython, in a process or as WebAssembly, loads Source there; this
// package knows nothing of how the interpreter is walled in.
//
// It is no boundary. The kernel's walls stand below it in every mode: see
// SECURITY.md.
package language

import _ "embed"

var (
	//go:embed python/rules.py
	rulesPart string
	//go:embed python/rewrite.py
	rewritePart string
	//go:embed python/library.py
	libraryPart string
	//go:embed python/guards.py
	guardsPart string
)

// Source is the program: it defines the classes Language and Refused.
func Source() string { return rulesPart + rewritePart + libraryPart + guardsPart }
