// Package arch has no code. Its tests hold the repository to its drawing: which
// package may import which, what the shipped binary may contain, where unsafe
// may stand, and that the paths and commands in the documents exist.
//
// The linter (.golangci.yml) says the same of single imports while one types;
// what only the whole can tell is here.
package arch
