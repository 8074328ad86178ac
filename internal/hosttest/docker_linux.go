package hosttest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// dockerProfile is the module with Docker's default seccomp profile, as Docker publishes it.
const dockerProfile = "github.com/moby/profiles/seccomp@v0.2.3"

// profileVariable names the file of a profile. Without it, RunDegraded denies the calls in
// deniedInContainers.
const profileVariable = "CORDON_TEST_PROFILE"

// UseDockerProfile makes RunDegraded apply Docker's default profile, with the capabilities that
// Docker leaves to root. No daemon is needed.
func UseDockerProfile(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", dockerProfile).Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil {
		Lacks(t, "Docker's profile (%s) cannot be downloaded: %v", dockerProfile, err)
	}
	data, err := os.ReadFile(filepath.Join(module.Dir, "default.json"))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(openDirectory(t), "docker.json") // other users cannot read the cache of modules
	if err := os.WriteFile(copied, data, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(profileVariable, copied)
}

// dockerCapabilities are those of root in a container.
var dockerCapabilities = map[string]int{
	"CAP_CHOWN": unix.CAP_CHOWN, "CAP_DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "CAP_FSETID": unix.CAP_FSETID, "CAP_FOWNER": unix.CAP_FOWNER,
	"CAP_MKNOD": unix.CAP_MKNOD, "CAP_NET_RAW": unix.CAP_NET_RAW, "CAP_SETGID": unix.CAP_SETGID, "CAP_SETUID": unix.CAP_SETUID,
	"CAP_SETFCAP": unix.CAP_SETFCAP, "CAP_SETPCAP": unix.CAP_SETPCAP, "CAP_NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE,
	"CAP_SYS_CHROOT": unix.CAP_SYS_CHROOT, "CAP_KILL": unix.CAP_KILL, "CAP_AUDIT_WRITE": unix.CAP_AUDIT_WRITE,
}

// dropToDocker drops all other capabilities of this thread.
func dropToDocker() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	var kept [2]uint32
	for _, c := range dockerCapabilities {
		kept[c/32] |= 1 << (c % 32)
	}
	for c := range unix.CAP_LAST_CAP + 1 {
		if kept[c/32]&(1<<(c%32)) == 0 && data[c/32].Effective != 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0) // this kernel may not know it
		}
	}
	for i := range data {
		data[i].Effective &= kept[i]
		data[i].Permitted &= kept[i]
		data[i].Inheritable = 0
	}
	return unix.Capset(&header, &data[0])
}

// profile is the part of Docker's format that its default profile uses.
type profile struct {
	DefaultErrnoRet uint32
	Syscalls        []profileRule
}

type profileRule struct {
	Names    []string
	Action   string
	ErrnoRet uint32
	Args     []struct {
		Index           uint32
		Value, ValueTwo uint64
		Op              string
	}
	Includes, Excludes struct{ Arches, Caps []string }
}

// applies reports whether a rule is for this machine and these capabilities. All kernels that
// we test are newer than any that a rule names.
func (r profileRule) applies() bool {
	held := func(name string) bool { _, has := dockerCapabilities[name]; return has }
	lacks := func(name string) bool { return !held(name) }
	in, out := r.Includes, r.Excludes
	return (len(in.Arches) == 0 || slices.Contains(in.Arches, runtime.GOARCH)) && !slices.ContainsFunc(in.Caps, lacks) &&
		!slices.Contains(out.Arches, runtime.GOARCH) && !slices.ContainsFunc(out.Caps, held)
}

// readProfile compiles a profile to a filter.
func readProfile(path string) ([]unix.SockFilter, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var p profile
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	var program []unix.SockFilter
	for _, rule := range p.Syscalls {
		if !rule.applies() {
			continue
		}
		for _, name := range rule.Names {
			if number, ok := seccomp.Number(name); ok {
				part, err := rule.compile(uint32(number))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				program = append(program, part...)
			}
		}
	}
	return append(program, answer(unix.SECCOMP_RET_ERRNO|p.DefaultErrnoRet)), nil
}

// compile returns the instructions for one call. They fall through if the rule does not match.
func (r profileRule) compile(number uint32) ([]unix.SockFilter, error) {
	then := answer(unix.SECCOMP_RET_ALLOW)
	if r.Action == "SCMP_ACT_ERRNO" {
		then = answer(unix.SECCOMP_RET_ERRNO | r.ErrnoRet)
	} else if r.Action != "SCMP_ACT_ALLOW" {
		return nil, fmt.Errorf("unknown action %s", r.Action)
	}
	var checks []unix.SockFilter
	for _, arg := range r.Args {
		const argsAt = 16 // offsetof(struct seccomp_data, args)
		low, high := argsAt+8*arg.Index, argsAt+8*arg.Index+4
		value := uint32(arg.Value) // no rule has a larger one
		var tests []unix.SockFilter
		switch arg.Op {
		case "SCMP_CMP_EQ":
			tests = []unix.SockFilter{load(high), jump(unix.BPF_JEQ, 0, false), load(low), jump(unix.BPF_JEQ, value, false)}
		case "SCMP_CMP_LT":
			tests = []unix.SockFilter{load(high), jump(unix.BPF_JEQ, 0, false), load(low), jump(unix.BPF_JGE, value, true)}
		case "SCMP_CMP_GT":
			tests = []unix.SockFilter{load(high), jump(unix.BPF_JEQ, 0, false), load(low), jump(unix.BPF_JGT, value, false)}
		case "SCMP_CMP_MASKED_EQ":
			if arg.ValueTwo != 0 {
				return nil, fmt.Errorf("%s with a value", arg.Op)
			}
			tests = []unix.SockFilter{load(low), jump(unix.BPF_JSET, value, true)}
		default:
			return nil, fmt.Errorf("unknown comparison %s", arg.Op)
		}
		checks = append(checks, tests...)
	}
	part := append([]unix.SockFilter{load(0), jump(unix.BPF_JEQ, number, false)}, append(checks, then)...)
	// A failed test jumps behind the answer.
	for i := range part {
		if part[i].Code&0x07 != unix.BPF_JMP {
			continue
		}
		behind := uint8(len(part) - i - 1)
		if part[i].Jt == failing {
			part[i].Jt = behind
		} else {
			part[i].Jf = behind
		}
	}
	return part, nil
}

// failing marks the branch of a jump that is taken if the test fails.
const failing = 255

// jump tests a value. If failsOnTrue, a match means that the test fails.
func jump(test uint16, value uint32, failsOnTrue bool) unix.SockFilter {
	f := unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value}
	if failsOnTrue {
		f.Jt = failing
	}
	return f
}
