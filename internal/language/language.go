// Package language is a second wall, inside the interpreter: rules for what a restricted
// script may contain, and guards around the objects that it may reach.
//
// It is written in the language that it checks. The parser that reads a script is the
// one that compiles it, and the guards see the objects that they guard. Every tier that
// runs CPython, in a process or as WebAssembly, loads Source there; this package knows
// nothing of the walls around the interpreter.
//
// It is not a security boundary. The kernel's walls stand below it in every mode: see
// SECURITY.md.
package language

import (
	"embed"
	"strings"
)

//go:embed python/*.py
var files embed.FS

// parts form one program in this order: each part uses names of the parts before it. A
// test compares the list with the files.
var parts = []string{
	"rules.py", "rewrite.py", // what a script may contain
	"objects.py", "classes.py", // real types of objects, and how classes are made
	"enums.py", "flags.py", "generics.py", "functions.py", "records.py", "copies.py", "printing.py", "texts.py", // replacements for parts of the library
	"shown.py", "library.py", "arrivals.py", "guards.py", // what scripts see, and the guards around them
}

// Source is the whole program. It defines the classes Language and Refused.
func Source() string {
	var source strings.Builder
	for _, part := range parts {
		text, _ := files.ReadFile("python/" + part)
		source.Write(text)
	}
	return source.String()
}
