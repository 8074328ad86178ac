// Package compile compiles the rules of package seccomp to BPF with gVisor's compiler.
// Only the generator and tests may import it: a shipped package would get many
// dependencies and spend tens of milliseconds on programs that are already embedded. The
// package is empty on systems where gVisor does not build.
package compile
