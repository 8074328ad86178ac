package seccomp

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// exposedDenies are calls that change a file by its owner's right alone.
// Landlock does not see them: behind a private root they reach nothing but the
// guest's own /tmp, and without one they reach every file of the same user,
// read-only or not.
var exposedDenies = []string{
	"chmod", "fchmod", "fchmodat", "fchmodat2",
	"utime", "utimes", "futimesat", "utimensat",
}

// Exposed returns a small filter that stands beside the others where there is
// no private root. It answers EPERM by itself.
func Exposed() ([]byte, error) {
	const (
		load, jumpEqual, answer = 0x20, 0x15, 0x06 // BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
		allow, deny             = 0x7fff0000, 0x00050001
	)
	var prog []byte
	add := func(code uint16, onTrue, onFalse uint8, k uint32) {
		prog = binary.LittleEndian.AppendUint16(prog, code)
		prog = append(prog, onTrue, onFalse)
		prog = binary.LittleEndian.AppendUint32(prog, k)
	}
	add(load, 0, 0, 0)
	for _, name := range exposedDenies {
		if nr, ok := Number(name); ok {
			add(jumpEqual, 0, 1, uint32(nr))
			add(answer, 0, 0, deny)
		}
	}
	if len(prog) == instructionSize {
		return nil, fmt.Errorf("seccomp: no program for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	add(answer, 0, 0, allow)
	return prog, nil
}
