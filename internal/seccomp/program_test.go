//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gvisor.dev/gvisor/pkg/abi/linux"
	"gvisor.dev/gvisor/pkg/bpf"

	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/internal/seccomp/compile"
)

var modes = []seccomp.Mode{seccomp.Notify, seccomp.Errno}

// machine runs the shipped program of one profile, architecture and mode in gVisor's BPF
// interpreter, which works on any architecture.
type machine struct {
	profile seccomp.Profile
	arch    string
	audit   uint32
	mode    seccomp.Mode
	prog    bpf.Program
}

func (m machine) String() string { return fmt.Sprintf("%s %s %s", m.profile, m.arch, m.mode) }

func programFile(profile seccomp.Profile, arch string, mode seccomp.Mode) string {
	return filepath.Join("program", fmt.Sprintf("%s-%s-%s.bin", profile, arch, mode))
}

func load(t testing.TB, profile seccomp.Profile, arch string, mode seccomp.Mode) machine {
	t.Helper()
	raw, err := os.ReadFile(programFile(profile, arch, mode))
	if err != nil {
		t.Fatal(err)
	}
	insns, err := compile.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := bpf.Compile(insns, false)
	if err != nil {
		t.Fatal(err)
	}
	audit, err := compile.AuditArch(arch)
	if err != nil {
		t.Fatal(err)
	}
	return machine{profile, arch, audit, mode, prog}
}

func machines(t testing.TB, profile seccomp.Profile) []machine {
	var all []machine
	for _, arch := range seccomp.Arches() {
		for _, mode := range modes {
			all = append(all, load(t, profile, arch, mode))
		}
	}
	return all
}

// inEachProfile runs a test for every profile.
func inEachProfile(t *testing.T, test func(t *testing.T, profile seccomp.Profile)) {
	for _, profile := range seccomp.Profiles() {
		t.Run(string(profile), func(t *testing.T) { test(t, profile) })
	}
}

// ask returns the program's answer to struct seccomp_data.
func (m machine) ask(t testing.TB, nr, audit uint32, args [6]uint64) linux.BPFAction {
	t.Helper()
	data := make([]byte, 0, 64)
	data = binary.LittleEndian.AppendUint32(data, nr)
	data = binary.LittleEndian.AppendUint32(data, audit)
	data = binary.LittleEndian.AppendUint64(data, 0x7f0000001000) // instruction pointer
	for _, arg := range args {
		data = binary.LittleEndian.AppendUint64(data, arg)
	}
	answer, err := bpf.Exec[bpf.LittleEndian](m.prog, data)
	if err != nil {
		t.Fatal(err)
	}
	return linux.BPFAction(answer)
}

// want returns the answer for an action in a mode. It repeats the table of the compile
// package on purpose, to check it.
func (m machine) want(action seccomp.Action) linux.BPFAction {
	switch action {
	case seccomp.Allow:
		return 0x7fff0000
	case seccomp.NoSys:
		return 0x00050000 | 38
	case seccomp.NotSupported:
		return 0x00050000 | 95
	case seccomp.Thread:
		if m.mode == seccomp.Errno {
			return 0x7fff0000
		}
	}
	if m.mode == seccomp.Errno {
		return 0x00050000 | 1
	}
	return 0x7fc00000
}

const killed = linux.BPFAction(0x80000000)

func TestShippedFilesAreUpToDate(t *testing.T) {
	files, err := compile.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, fresh := range files {
		if golden.Updating() {
			if err := os.WriteFile(name, fresh, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		shipped, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(shipped, fresh) {
			t.Errorf("%s does not match the rules: run go generate ./internal/seccomp, and read the difference", name)
		}
	}
}

func TestProgramReturnsEmbeddedBytes(t *testing.T) {
	digests := make(map[string]string)
	for _, profile := range seccomp.Profiles() {
		for _, mode := range modes {
			name := fmt.Sprintf("%s %s", profile, mode)
			prog, err := seccomp.Program(profile, mode)
			if err != nil {
				t.Fatal(err)
			}
			shipped, err := os.ReadFile(programFile(profile, runtime.GOARCH, mode))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(prog, shipped) && !golden.Updating() {
				t.Errorf("%s: Program returned other bytes than the file", name)
			}
			if again, _ := seccomp.Program(profile, mode); &again[0] == &prog[0] {
				t.Errorf("%s: two callers share the bytes", name)
			}
			if other, taken := digests[seccomp.Digest(prog)]; taken {
				t.Errorf("%s and %s are the same program", name, other)
			}
			digests[seccomp.Digest(prog)] = name
		}
	}
	if prog, err := seccomp.Program(seccomp.Script, "off"); err == nil || prog != nil {
		t.Errorf("an unknown mode gave %d bytes, error %v", len(prog), err)
	}
	for _, profile := range []seccomp.Profile{"", "everything"} {
		if prog, err := seccomp.Program(profile, seccomp.Errno); err == nil || prog != nil {
			t.Errorf("profile %q gave %d bytes, error %v", profile, len(prog), err)
		}
		if groups := seccomp.RulesOf(profile); groups != nil {
			t.Errorf("profile %q has %d groups", profile, len(groups))
		}
	}
}

// A long program is slow to install, and every command installs one. Growth means that a
// rule compiles badly.
func TestProgramsAreSmall(t *testing.T) {
	most := map[seccomp.Profile]int{seccomp.Script: 340, seccomp.Networked: 420, seccomp.Command: 700, seccomp.Watched: 760, seccomp.Shared: 760, seccomp.Unscoped: 760, seccomp.GVisor: 760}
	for _, profile := range seccomp.Profiles() {
		for _, m := range machines(t, profile) {
			t.Logf("%s: %d instructions", m, m.prog.Length())
			if m.prog.Length() > most[profile] {
				t.Errorf("%s: %d instructions, more than %d", m, m.prog.Length(), most[profile])
			}
		}
	}
}

// TestCalls pins the answer for every number, so that no change widens the wall
// unnoticed. It runs the compiled program with arguments of zero and of ones, and adds
// from the rules whether arguments matter.
func TestCalls(t *testing.T) {
	inEachProfile(t, func(t *testing.T, profile seccomp.Profile) {
		for _, arch := range seccomp.Arches() {
			golden.Check(t, filepath.Join("testdata", fmt.Sprintf("%s-%s-calls.golden", profile, arch)), answers(t, profile, arch))
		}
	})
}

// answers returns a line for every number that is not denied.
func answers(t *testing.T, profile seccomp.Profile, arch string) string {
	notify, errno := load(t, profile, arch, seccomp.Notify), load(t, profile, arch, seccomp.Errno)
	conditional := make(map[string]bool)
	for _, r := range conditionalRules(profile) {
		conditional[r.Call] = true
	}
	var got strings.Builder
	for nr := uint32(0); nr <= 600; nr++ {
		name := seccomp.NameOn(arch, int(nr))
		zeros := notify.ask(t, nr, notify.audit, [6]uint64{})
		ones := notify.ask(t, nr, notify.audit, [6]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)})
		inErrno := errno.ask(t, nr, errno.audit, [6]uint64{})
		switch {
		case conditional[name]:
			fmt.Fprintf(&got, "%s: by arguments\n", name)
		case zeros != ones:
			t.Errorf("%s: %s depends on arguments without a rule that says so", arch, name)
		case zeros == notify.want(seccomp.Allow) && inErrno == errno.want(seccomp.Allow):
			fmt.Fprintf(&got, "%s\n", name)
		case zeros == notify.want(seccomp.NoSys) && inErrno == errno.want(seccomp.NoSys):
			fmt.Fprintf(&got, "%s: ENOSYS\n", name)
		case zeros == notify.want(seccomp.NotSupported) && inErrno == errno.want(seccomp.NotSupported):
			fmt.Fprintf(&got, "%s: EOPNOTSUPP\n", name)
		case seccomp.Decide(seccomp.RulesOf(profile), name, [6]uint64{}) == seccomp.Ask && zeros == notify.want(seccomp.Ask) && inErrno == errno.want(seccomp.Ask):
			fmt.Fprintf(&got, "%s: asked\n", name)
		case zeros != notify.want(seccomp.Deny) || inErrno != errno.want(seccomp.Deny):
			t.Errorf("%s: %s: %v in notify, %v in errno", arch, name, zeros, inErrno)
		}
	}
	return got.String()
}

// conditionalRules returns the rules of a profile that check arguments.
func conditionalRules(profile seccomp.Profile) []seccomp.Rule {
	var rules []seccomp.Rule
	for _, g := range seccomp.RulesOf(profile) {
		for _, r := range g.Rules {
			if _, always := r.When.(seccomp.Always); !always {
				rules = append(rules, r)
			}
		}
	}
	return rules
}
