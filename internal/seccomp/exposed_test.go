//go:build linux && (amd64 || arm64)

package seccomp_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/bpf"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/internal/seccomp/compile"
)

const ownPID = 4711

// exposedMachines runs the filters of an exposure in gVisor's BPF interpreter.
func exposedMachines(t *testing.T, arch string, e seccomp.Exposure) []machine {
	t.Helper()
	filters, err := seccomp.ExposedOn(arch, e)
	if err != nil {
		t.Fatal(err)
	}
	programs := [][]byte{filters.Common}
	if len(filters.Own) > 0 {
		programs = append(programs, bytes.Join(filters.Own, binary.LittleEndian.AppendUint32(nil, ownPID)))
	}
	var all []machine
	for _, raw := range programs {
		if len(raw) == 0 {
			continue
		}
		insns, err := compile.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := bpf.Compile(insns, false)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, machine{arch: arch, mode: seccomp.Errno, prog: prog})
	}
	return all
}

// The profile's filter is installed too and denies unlisted calls, so the table has only
// calls that it allows.
func TestExposedVerdicts(t *testing.T) {
	all := seccomp.Exposure{Owners: true, Truncation: true, Signals: true}
	const creating = unix.O_WRONLY | unix.O_CREAT | unix.O_TRUNC | unix.O_CLOEXEC
	tests := []struct {
		call     string
		args     [6]uint64
		exposure seccomp.Exposure
		allowed  bool
	}{
		{"chmod", a(pointer, 0o777), all, false},
		{"fchmodat2", a(minusOne32, pointer), all, false},
		{"utimensat", a(minusOne32, pointer), all, false},
		{"chmod", a(pointer, 0o777), seccomp.Exposure{Truncation: true, Signals: true}, true},

		{"truncate", a(pointer, 0), all, false},
		{"truncate", a(pointer, 0), seccomp.Exposure{Owners: true, Signals: true}, true},
		{"ftruncate", a(3, 0), all, true}, // needs a writable descriptor
		{"creat", a(pointer, 0o600), all, true},
		{"open", a(pointer, unix.O_RDONLY|unix.O_CLOEXEC), all, true},
		{"open", a(pointer, creating), all, true},
		{"open", a(pointer, unix.O_RDONLY|unix.O_TRUNC), all, false},
		{"openat", a(minusOne32, pointer, unix.O_RDONLY|unix.O_DIRECTORY), all, true},
		{"openat", a(minusOne32, pointer, creating), all, true},
		{"openat", a(minusOne32, pointer, unix.O_RDWR|unix.O_TRUNC), all, true},
		{"openat", a(minusOne32, pointer, unix.O_RDONLY|unix.O_TRUNC), all, false},
		{"openat", a(minusOne32, pointer, unix.O_RDONLY|unix.O_TRUNC|unix.O_CREAT), all, false},
		{"openat", a(minusOne32, pointer, unix.O_ACCMODE|unix.O_TRUNC), all, false},
		{"openat", a(minusOne32, pointer, high|unix.O_RDONLY|unix.O_TRUNC), all, false},
		{"openat", a(minusOne32, pointer, unix.O_RDONLY|unix.O_TRUNC), seccomp.Exposure{Owners: true, Signals: true}, true},

		{"kill", a(ownPID, 9), all, true},
		{"kill", a(high|ownPID, 9), all, true}, // the kernel uses only the low half too
		{"kill", a(0, 9), all, true},
		{"kill", a(ownPID+1, 9), all, false},
		{"kill", a(1, 9), all, false},
		{"kill", a(minusOne, 9), all, false},
		{"kill", a(high, 9), all, true},
		{"tgkill", a(ownPID, ownPID+7, 10), all, true},
		{"tgkill", a(ownPID+1, ownPID, 10), all, false},
		{"tgkill", a(0, ownPID, 10), all, false},
		{"tkill", a(ownPID, 10), all, true},
		{"tkill", a(ownPID+7, 10), all, false},
		{"kill", a(1, 9), seccomp.Exposure{Owners: true, Truncation: true}, true},

		{"read", a(0), all, true},
		{"getpid", a(), all, true},
	}
	for _, test := range tests {
		asked := 0
		for _, arch := range seccomp.Arches() {
			nr, ok := seccomp.NumberOn(arch, test.call)
			if !ok {
				continue
			}
			asked++
			allowed := true
			for _, m := range exposedMachines(t, arch, test.exposure) {
				switch answer := m.ask(t, uint32(nr), m.audit, test.args); answer {
				case 0x7fff0000:
				case 0x00050000 | 1: // EPERM
					allowed = false
				default:
					t.Errorf("%s: %s%#x: %#x", arch, test.call, test.args, answer)
				}
			}
			if allowed != test.allowed {
				t.Errorf("%s: %s%#x with %+v: allowed is %v", arch, test.call, test.args, test.exposure, allowed)
			}
		}
		if asked == 0 {
			t.Errorf("%s: no architecture has it", test.call)
		}
	}
}

func TestNothingExposedNeedsNoFilter(t *testing.T) {
	filters, err := seccomp.Exposed(seccomp.Exposure{})
	if err != nil || len(filters.Common) != 0 || len(filters.Own) != 0 {
		t.Errorf("%+v, %v", filters, err)
	}
	if _, err := seccomp.ExposedOn("mips", seccomp.Exposure{}); err == nil {
		t.Error("an architecture without a program has one")
	}
}

// A rule of the second filter is needed only if the profile's filter allows the call.
func TestExposedDeniesWhatTheProfileAllows(t *testing.T) {
	for call, args := range map[string][6]uint64{
		"openat2": a(), "rt_sigqueueinfo": a(1), "rt_tgsigqueueinfo": a(1), "pidfd_send_signal": a(3), "pidfd_open": a(1),
		"process_madvise": a(3), "setpriority": a(), "ioprio_set": a(1, 1), "sched_setaffinity": a(1), "sched_setscheduler": a(1),
		"sched_setparam": a(1), "sched_setattr": a(1), "prlimit64": a(1), "fcntl": a(3, unix.F_SETOWN), "setxattr": a(),
		"chown": a(), "fchownat": a(), "open_by_handle_at": a(), "socket": a(unix.AF_UNIX, unix.SOCK_STREAM), "connect": a(3), "bind": a(3),
	} {
		if got := seccomp.Decide(seccomp.RulesOf(seccomp.Script), call, args); got == seccomp.Allow {
			t.Errorf("%s%#x is allowed to scripts: the filter of exposed hosts has to know it", call, args)
		}
	}
	const fSetOwnEx = 15
	if got := seccomp.Decide(seccomp.RulesOf(seccomp.Script), "fcntl", a(3, fSetOwnEx)); got == seccomp.Allow {
		t.Error("F_SETOWN_EX is allowed to scripts")
	}
}
