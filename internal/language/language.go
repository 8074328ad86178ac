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

import (
	"embed"
	"strings"
)

//go:embed python/*.py
var files embed.FS

// parts are one program in this order: each uses the names of those before it. A test
// compares them with the files that there are.
var parts = []string{
	"rules.py", "rewrite.py", // what a script may say
	"objects.py", "classes.py", // what an object really is, and how classes are made
	"enums.py", "flags.py", "generics.py", "functions.py", "records.py", "copies.py", "printing.py", "texts.py", // in place of the library's own
	"shown.py", "library.py", "arrivals.py", "guards.py", // what scripts see, and what stands around them
}

// Source is the program: it defines the classes Language and Refused.
func Source() string {
	var source strings.Builder
	for _, part := range parts {
		text, _ := files.ReadFile("python/" + part)
		source.Write(text)
	}
	return source.String()
}
