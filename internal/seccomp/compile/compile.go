//go:build linux && (amd64 || arm64)

package compile

import (
	"encoding/binary"
	"fmt"
	"math"

	"gvisor.dev/gvisor/pkg/abi/linux"
	"gvisor.dev/gvisor/pkg/bpf"
	gseccomp "gvisor.dev/gvisor/pkg/seccomp"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// x32Bit marks a call of the x32 ABI, which has the same AUDIT_ARCH as amd64. Without a
// separate test, each call would have a second number.
const x32Bit = 0x40000000

// jeq is "jump if A equals a constant".
const jeq = bpf.Jmp | bpf.Jeq | bpf.K

// loadNR and loadArch load fields of struct seccomp_data into A.
var (
	loadNR   = bpf.Stmt(bpf.Ld|bpf.Abs|bpf.W, 0)
	loadArch = bpf.Stmt(bpf.Ld|bpf.Abs|bpf.W, 4)
)

// AuditArch returns the kernel's constant for an architecture's native ABI.
func AuditArch(arch string) (uint32, error) {
	switch arch {
	case "amd64":
		return linux.AUDIT_ARCH_X86_64, nil
	case "arm64":
		return linux.AUDIT_ARCH_AARCH64, nil
	}
	return 0, fmt.Errorf("no rules for architecture %q", arch)
}

// Compile returns the program for an architecture, which may differ from this
// machine's, and a mode.
func Compile(arch string, mode seccomp.Mode, groups []seccomp.Group, hot []string) ([]bpf.Instruction, error) {
	if err := seccomp.Validate(groups); err != nil {
		return nil, err
	}
	audit, err := AuditArch(arch)
	if err != nil {
		return nil, err
	}
	deny, err := denial(mode)
	if err != nil {
		return nil, err
	}
	p := gseccomp.Program{
		RuleSets: ruleSets(arch, mode, deny, groups),
		Options: gseccomp.ProgramOptions{
			DefaultAction: deny,
			BadArchAction: gseccomp.KillProcess,
			HotSyscalls:   numbers(arch, hot),
		},
	}
	insns, _, err := p.Build()
	if err != nil {
		return nil, err
	}
	if insns, err = retarget(insns, gseccomp.LINUX_AUDIT_ARCH, audit); err != nil {
		return nil, err
	}
	if arch == "amd64" {
		insns = refuseX32(insns)
	}
	return insns, nil
}

func denial(mode seccomp.Mode) (gseccomp.Action, error) {
	switch mode {
	case seccomp.Notify:
		return gseccomp.UserNotify, nil
	case seccomp.Errno:
		return gseccomp.ReturnError.Code(_EPERM), nil
	}
	return "", fmt.Errorf("unknown mode %q", mode)
}

const (
	_EPERM      = 1
	_ENOSYS     = 38
	_EOPNOTSUPP = 95
)

func ruleSets(arch string, mode seccomp.Mode, deny gseccomp.Action, groups []seccomp.Group) []gseccomp.RuleSet {
	thread := gseccomp.Allow
	if mode == seccomp.Notify {
		thread = deny
	}
	actions := map[seccomp.Action]gseccomp.Action{
		seccomp.Allow:  gseccomp.Allow,
		seccomp.Thread: thread,
		seccomp.Ask:    deny,
		seccomp.NoSys:  gseccomp.ReturnError.Code(_ENOSYS),

		seccomp.NotSupported: gseccomp.ReturnError.Code(_EOPNOTSUPP),
	}
	var sets []gseccomp.RuleSet
	// No two sets match the same call (Validate), so their order does not matter.
	for _, then := range []seccomp.Action{seccomp.Allow, seccomp.Thread, seccomp.Ask, seccomp.NoSys, seccomp.NotSupported} {
		conditions := make(map[int][]seccomp.Condition)
		for _, g := range groups {
			if g.Then != then {
				continue
			}
			for _, r := range g.Rules {
				if nr, ok := seccomp.NumberOn(arch, r.Call); ok {
					conditions[nr] = append(conditions[nr], r.When)
				}
			}
		}
		rules := gseccomp.NewSyscallRules()
		for nr, any := range conditions {
			rules.Add(uintptr(nr), oneOf(any))
		}
		if rules.Size() > 0 {
			sets = append(sets, gseccomp.RuleSet{Rules: rules, Action: actions[then]})
		}
	}
	return sets
}

// oneOf joins the conditions of one call. Most arguments are small numbers, so most
// checks begin with "the upper half is zero". If all rules require that of an argument,
// it is tested once, before them. gVisor's compiler does not find this optimization when
// rules check different arguments, and would test it again for each value.
func oneOf(conditions []seccomp.Condition) gseccomp.SyscallRule {
	small := [6]bool{true, true, true, true, true, true}
	for _, c := range conditions {
		where, _ := c.(seccomp.Where)
		for arg := range small {
			small[arg] = small[arg] && checksSmall(where, arg)
		}
	}
	var all gseccomp.And
	for arg, is := range small {
		if is {
			var per gseccomp.PerArg
			per[arg] = gseccomp.MaskedEqual(upperHalf, 0)
			all = append(all, per)
		}
	}
	var any gseccomp.Or
	for _, c := range conditions {
		any = append(any, rule(c, small))
	}
	return append(all, any)
}

const upperHalf = math.MaxUint64 &^ math.MaxUint32

// checksSmall reports whether a condition requires the upper half of an argument to be
// zero.
func checksSmall(where seccomp.Where, arg int) bool {
	for _, check := range where {
		if check.Arg != arg {
			continue
		}
		if check.Mask&upperHalf != upperHalf {
			return false
		}
		for _, v := range check.Values {
			if v&upperHalf != 0 {
				return false
			}
		}
		return true
	}
	return false
}

// rule compiles one condition. It does not test the upper halves of small arguments,
// which are known to be zero.
func rule(c seccomp.Condition, small [6]bool) gseccomp.SyscallRule {
	switch c := c.(type) {
	case seccomp.Always:
		return gseccomp.MatchAll{}
	case seccomp.Where:
		var all gseccomp.And
		for _, check := range c {
			mask := check.Mask
			if small[check.Arg] {
				mask &^= upperHalf
			}
			var any gseccomp.Or
			for _, v := range check.Values {
				var per gseccomp.PerArg
				if mask == math.MaxUint64 {
					per[check.Arg] = gseccomp.EqualTo(v)
				} else {
					per[check.Arg] = gseccomp.MaskedEqual(uintptr(mask), uintptr(v))
				}
				any = append(any, per)
			}
			all = append(all, any)
		}
		return all
	}
	// An unknown condition must not become "always".
	panic(fmt.Sprintf("condition %T cannot be compiled", c))
}

func numbers(arch string, names []string) []uintptr {
	var nrs []uintptr
	for _, name := range names {
		if nr, ok := seccomp.NumberOn(arch, name); ok {
			nrs = append(nrs, uintptr(nr))
		}
	}
	return nrs
}

// retarget replaces the architecture that the program expects. gVisor compiles for the
// machine that it runs on, but nothing else in a program depends on it: the call numbers
// are ours, and both architectures are little-endian with 64 bits. retarget requires
// exactly one comparison, at the position where gVisor puts it, so that a change in
// gVisor causes an error and not a filter for the wrong machine.
func retarget(insns []bpf.Instruction, from, to uint32) ([]bpf.Instruction, error) {
	found := -1
	for i, ins := range insns {
		if ins.OpCode == jeq && ins.K == from {
			if found >= 0 {
				return nil, fmt.Errorf("instructions %d and %d both compare with architecture %#x", found, i, from)
			}
			found = i
		}
	}
	if found != 1 || !insns[0].Equal(loadArch) {
		return nil, fmt.Errorf("the program does not begin by comparing the architecture with %#x", from)
	}
	out := append([]bpf.Instruction(nil), insns...)
	out[found].K = to
	return out, nil
}

// refuseX32 adds a test for the x32 ABI before the program. Jumps are relative, so the
// program does not change. The number -1 has the bit too; it is no call.
func refuseX32(insns []bpf.Instruction) []bpf.Instruction {
	prefix := []bpf.Instruction{
		loadNR,
		bpf.Jump(bpf.Jmp|bpf.Jset|bpf.K, x32Bit, 0, 1),
		bpf.Stmt(bpf.Ret|bpf.K, uint32(linux.SECCOMP_RET_KILL_PROCESS)),
	}
	return append(prefix, insns...)
}

// Encode returns the kernel's form of a program, an array of struct sock_filter.
func Encode(insns []bpf.Instruction) []byte {
	out := make([]byte, 0, 8*len(insns))
	for _, ins := range insns {
		out = binary.LittleEndian.AppendUint16(out, ins.OpCode)
		out = append(out, ins.JumpIfTrue, ins.JumpIfFalse)
		out = binary.LittleEndian.AppendUint32(out, ins.K)
	}
	return out
}

// Decode is the inverse of Encode.
func Decode(prog []byte) ([]bpf.Instruction, error) {
	if len(prog)%8 != 0 {
		return nil, fmt.Errorf("%d bytes are not whole instructions", len(prog))
	}
	var insns []bpf.Instruction
	for ; len(prog) > 0; prog = prog[8:] {
		insns = append(insns, bpf.RawInstruction(
			binary.LittleEndian.Uint16(prog), prog[2], prog[3], binary.LittleEndian.Uint32(prog[4:])))
	}
	return insns, nil
}
