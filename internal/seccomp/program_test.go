//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gvisor.dev/gvisor/pkg/abi/linux"
	"gvisor.dev/gvisor/pkg/bpf"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/internal/seccomp/compile"
)

var update = flag.Bool("update", false, "rewrite testdata and the embedded programs")

var modes = []seccomp.Mode{seccomp.Notify, seccomp.Errno}

// machine runs the shipped bytes of one architecture and mode in gVisor's BPF
// interpreter, which does not care what it runs on.
type machine struct {
	arch  string
	audit uint32
	mode  seccomp.Mode
	prog  bpf.Program
}

func load(t testing.TB, arch string, mode seccomp.Mode) machine {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("program", fmt.Sprintf("%s-%s.bin", arch, mode)))
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
	return machine{arch, audit, mode, prog}
}

func machines(t testing.TB) []machine {
	var all []machine
	for _, arch := range seccomp.Arches() {
		for _, mode := range modes {
			all = append(all, load(t, arch, mode))
		}
	}
	return all
}

// ask is what the program answers to struct seccomp_data.
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

// want is what an action must come out as in a mode, spelled a second time and
// on purpose without the compile package.
func (m machine) want(action seccomp.Action) linux.BPFAction {
	switch action {
	case seccomp.Allow:
		return 0x7fff0000
	case seccomp.NoSys:
		return 0x00050000 | 38
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

func TestShippedFilesAreFreshlyCompiled(t *testing.T) {
	files, err := compile.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, fresh := range files {
		if *update {
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

func TestProgramIsWhatIsEmbedded(t *testing.T) {
	for _, mode := range modes {
		prog, err := seccomp.Program(mode)
		if err != nil {
			t.Fatal(err)
		}
		shipped, err := os.ReadFile(filepath.Join("program", fmt.Sprintf("%s-%s.bin", runtime.GOARCH, mode)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(prog, shipped) && !*update {
			t.Errorf("%s: Program returned other bytes than the file", mode)
		}
		if again, _ := seccomp.Program(mode); &again[0] == &prog[0] {
			t.Errorf("%s: two callers share the bytes", mode)
		}
	}
	if prog, err := seccomp.Program("off"); err == nil || prog != nil {
		t.Errorf("an unknown mode gave %d bytes, error %v", len(prog), err)
	}
}

// A long program is a slow one, and growth means that a rule compiled badly.
func TestProgramsAreSmall(t *testing.T) {
	for _, m := range machines(t) {
		t.Logf("%s %s: %d instructions", m.arch, m.mode, m.prog.Length())
		if m.prog.Length() > 370 {
			t.Errorf("%s %s: %d instructions, more than 370", m.arch, m.mode, m.prog.Length())
		}
	}
}

// TestCalls pins what every number gets, so that nobody widens the wall unseen.
// It asks the compiled program, not the rules: with arguments of zero and of
// ones, and with the rules' word on whether arguments matter at all.
func TestCalls(t *testing.T) {
	for _, arch := range seccomp.Arches() {
		notify, errno := load(t, arch, seccomp.Notify), load(t, arch, seccomp.Errno)
		conditional := make(map[string]bool)
		for _, g := range seccomp.Rules() {
			for _, r := range g.Rules {
				if _, always := r.When.(seccomp.Always); !always {
					conditional[r.Call] = true
				}
			}
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
			case zeros != notify.want(seccomp.Deny) || inErrno != errno.want(seccomp.Deny):
				t.Errorf("%s: %s: %v in notify, %v in errno", arch, name, zeros, inErrno)
			}
		}
		golden := filepath.Join("testdata", arch+"-calls.golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("%s: the set of calls changed; if you mean it, run the tests with -update (-want +got):\n%s", arch, diff)
		}
	}
}
