//go:build linux && (amd64 || arm64)

package compile

import (
	"fmt"
	"path"
	"strings"

	"gvisor.dev/gvisor/pkg/abi/linux"
	"gvisor.dev/gvisor/pkg/bpf"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// Files compiles all programs. It returns the contents of the generated files by name,
// relative to internal/seccomp.
func Files() (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, profile := range seccomp.Profiles() {
		groups, hot := seccomp.RulesOf(profile), seccomp.Hot(profile)
		for _, arch := range seccomp.Arches() {
			for _, mode := range []seccomp.Mode{seccomp.Notify, seccomp.Errno} {
				name := fmt.Sprintf("%s-%s-%s", profile, arch, mode)
				insns, err := Compile(arch, mode, groups, hot)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				listing, err := Listing(arch, insns)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				title := fmt.Sprintf("# %s %s %s: ", profile, arch, mode)
				files[path.Join("program", name+".bin")] = Encode(insns)
				files[path.Join("testdata", name+".golden")] = []byte(title + listing)
			}
		}
	}
	return files, nil
}

// Listing returns a program as text: its size and digest, and then a line for each
// instruction. Return values have names, and so have the numbers of calls.
func Listing(arch string, insns []bpf.Instruction) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%d instructions, digest %s\n", len(insns), seccomp.Digest(Encode(insns)))
	holdsNR := numberInA(insns)
	text, err := bpf.DecodeInstructions(insns)
	if err != nil {
		return "", err
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		ins := insns[i]
		out.WriteString(line)
		switch {
		case ins.OpCode == bpf.Ret|bpf.K:
			fmt.Fprintf(&out, "  # %s", linux.BPFAction(ins.K))
		case ins.OpCode == jeq && holdsNR[i]:
			fmt.Fprintf(&out, "  # %s", seccomp.NameOn(arch, int(ins.K)))
		}
		out.WriteByte('\n')
	}
	return out.String(), nil
}

// numberInA finds the instructions at which A holds the call's number on every path. BPF
// only jumps forward, so one pass is enough.
func numberInA(insns []bpf.Instruction) []bool {
	reached := make([]bool, len(insns)+1)
	holds := make([]bool, len(insns)+1)
	arrive := func(at int, nr bool) {
		if at < len(holds) {
			holds[at] = nr && (holds[at] || !reached[at])
			reached[at] = true
		}
	}
	arrive(0, false)
	for i, ins := range insns {
		nr := holds[i]
		switch {
		case ins.IsReturn():
			continue
		case ins.IsJump():
			for _, jump := range ins.JumpOffsets() {
				arrive(i+1+int(jump.Offset), nr)
			}
			continue
		case ins.Equal(loadNR):
			nr = true
		case ins.ModifiesRegisterA():
			nr = false
		}
		arrive(i+1, nr)
	}
	return holds
}
