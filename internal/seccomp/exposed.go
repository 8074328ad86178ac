package seccomp

import (
	"encoding/binary"
	"fmt"
	"runtime"
)

// Exposure describes what a guest of the profile Script could reach with the rights of
// its user, because no namespace hides it and Landlock does not cover it. The zero
// value is a guest with a private root in a pid namespace.
type Exposure struct {
	// Owners: files whose mode or times the owner may change. Landlock has no right
	// for that.
	Owners bool
	// Truncation: files that can be truncated without opening them for writing.
	// Landlock covers it since ABI 3.
	Truncation bool
	// Signals: processes of the same user. Landlock covers them since ABI 6.
	Signals bool
}

// A permission allows a call if the low half of an argument, under a mask, has a value.
// The kernel reads these arguments as C ints, so it ignores the high half too.
type permission struct {
	arg         int
	mask, value uint32
	// own compares with the caller's pid instead of value.
	own bool
}

// An exposedRule denies a call unless one of its permissions holds.
type exposedRule struct {
	call    string
	permits []permission
}

const (
	accessMode = 3 // O_ACCMODE
	writeOnly  = 1
	readWrite  = 2
	truncate   = 0o1000 // O_TRUNC
	allOfArg   = ^uint32(0)
)

// emptiesOnlyWritable allows O_TRUNC if the file is opened for writing, which Landlock
// decides since ABI 1. With the other access modes, including the fourth (3, only for
// ioctl), the kernel truncates the file by the owner's right, and Landlock sees at most
// a read.
func emptiesOnlyWritable(arg int) []permission {
	return []permission{
		{arg: arg, mask: truncate, value: 0},
		{arg: arg, mask: accessMode, value: writeOnly},
		{arg: arg, mask: accessMode, value: readWrite},
	}
}

// common returns the rules that are the same for every guest. creat opens for writing,
// ftruncate and fallocate need a writable descriptor, and the profile has no openat2.
func (e Exposure) common() []exposedRule {
	var rules []exposedRule
	if e.Owners {
		for _, call := range []string{"chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat"} {
			rules = append(rules, exposedRule{call: call})
		}
	}
	if e.Truncation {
		rules = append(rules, exposedRule{call: "truncate"},
			exposedRule{"open", emptiesOnlyWritable(1)}, exposedRule{"openat", emptiesOnlyWritable(2)})
	}
	return rules
}

// own returns the rules that depend on the guest's pid: a guest may signal only its own
// process. The profile has no other call that names a process by number. Pid 0 is the
// process group, in which a worker is the leader and the only member. tkill names a
// thread by its own number, so that only the first thread can be recognized; glibc and
// CPython use tgkill.
func (e Exposure) own() []exposedRule {
	if !e.Signals {
		return nil
	}
	self := permission{mask: allOfArg, own: true}
	return []exposedRule{
		{"kill", []permission{{mask: allOfArg, value: 0}, self}},
		{"tgkill", []permission{self}},
		{"tkill", []permission{self}},
	}
}

// Filters are small programs in addition to that of the profile. They answer EPERM
// without a report, because a process can have only one listener.
type Filters struct {
	// Common is for the fork server and all its workers; empty if not needed.
	Common []byte
	// Own is for each worker. To complete the program, put the worker's pid, as four
	// bytes in the machine's byte order, between the pieces. Empty if not needed.
	Own [][]byte
}

// Exposed returns the filters that close an exposure on this machine.
func Exposed(e Exposure) (Filters, error) { return ExposedOn(runtime.GOARCH, e) }

// ExposedOn is Exposed for an architecture of [Arches].
func ExposedOn(arch string, e Exposure) (Filters, error) {
	if _, ok := NumberOn(arch, "openat"); !ok {
		return Filters{}, fmt.Errorf("seccomp: no program for %s/%s", runtime.GOOS, arch)
	}
	var f Filters
	if pieces := assemble(arch, e.common()); len(pieces) > 0 {
		f.Common = pieces[0]
	}
	f.Own = assemble(arch, e.own())
	return f, nil
}

// assemble returns a program in pieces, to be joined with the caller's pid.
func assemble(arch string, rules []exposedRule) [][]byte {
	const (
		load, and, jumpEqual, answer = 0x20, 0x54, 0x15, 0x06 // BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
		allow, deny                  = 0x7fff0000, 0x00050001
		numberAt, argsAt             = 0, 16 // in struct seccomp_data
		perPermission                = 4     // instructions
	)
	if len(rules) == 0 {
		return nil
	}
	var pieces [][]byte
	var piece []byte
	begin := func(code uint16, onTrue, onFalse uint8) {
		piece = binary.LittleEndian.AppendUint16(piece, code)
		piece = append(piece, onTrue, onFalse)
	}
	add := func(code uint16, onTrue, onFalse uint8, k uint32) {
		begin(code, onTrue, onFalse)
		piece = binary.LittleEndian.AppendUint32(piece, k)
	}
	add(load, 0, 0, numberAt)
	for _, rule := range rules {
		nr, ok := NumberOn(arch, rule.call)
		if !ok {
			continue
		}
		// A rule that matches the number always returns, so the next rule still
		// has the number loaded.
		add(jumpEqual, 0, uint8(len(rule.permits)*perPermission+1), uint32(nr))
		for _, p := range rule.permits {
			add(load, 0, 0, uint32(argsAt+8*p.arg))
			add(and, 0, 0, p.mask)
			if p.own {
				begin(jumpEqual, 0, 1)
				pieces, piece = append(pieces, piece), nil
			} else {
				add(jumpEqual, 0, 1, p.value)
			}
			add(answer, 0, 0, allow)
		}
		add(answer, 0, 0, deny)
	}
	add(answer, 0, 0, allow)
	return append(pieces, piece)
}
