package seccomp

import (
	"fmt"
	"runtime"
	"slices"
)

// Arches are the architectures that have rules and programs.
func Arches() []string { return []string{"amd64", "arm64"} }

// names returns the names by number, "" for an unused number, and nil for an unknown
// architecture.
func names(arch string) []string {
	switch arch {
	case "amd64":
		return namesAMD64[:]
	case "arm64":
		return namesARM64[:]
	}
	return nil
}

// Name returns the kernel's name of a system call of this machine, "syscall_N" for an
// unknown number.
func Name(nr int) string { return NameOn(runtime.GOARCH, nr) }

// Number is the inverse of [Name].
func Number(name string) (int, bool) { return NumberOn(runtime.GOARCH, name) }

// NameOn is [Name] for a given architecture.
func NameOn(arch string, nr int) string {
	if table := names(arch); nr >= 0 && nr < len(table) && table[nr] != "" {
		return table[nr]
	}
	return fmt.Sprintf("syscall_%d", nr)
}

// NumberOn is [Number] for a given architecture.
func NumberOn(arch, name string) (int, bool) {
	nr := slices.Index(names(arch), name)
	return nr, nr >= 0 && name != ""
}
