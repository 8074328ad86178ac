// Package compile turns the rules of package seccomp into BPF with gVisor's
// compiler. It is for the generator and for tests: a shipped package that
// imported it would pay tens of milliseconds and many dependencies for bytes
// that are embedded already. It is empty where gVisor does not build.
package compile
