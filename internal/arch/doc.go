// Package arch has no code. Its tests check the architecture of the repository: which
// package may import which, what the shipped binaries may link, which files may use unsafe,
// and whether the paths, tests and commands in the documents exist.
//
// The linter (.golangci.yml) checks single imports in an editor; the checks here need the
// whole repository.
package arch
