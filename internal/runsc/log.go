package runsc

import (
	"regexp"
	"slices"
)

// Unsupported returns the system calls that a log lists: gVisor does not have them, and its
// guest made them. The C library does so with rseq at each start of a program.
func Unsupported(log []byte) (names []string) {
	for _, found := range unsupported.FindAllSubmatch(log, -1) {
		if name := string(found[1]); name != "rseq" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var unsupported = regexp.MustCompile(`Unsupported syscall ([a-z0-9_]{1,40})\(`)
