//go:build linux && (amd64 || arm64)

package compile

import (
	"testing"

	"gvisor.dev/gvisor/pkg/abi/linux"
	"gvisor.dev/gvisor/pkg/bpf"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

var (
	allow = bpf.Stmt(bpf.Ret|bpf.K, uint32(linux.SECCOMP_RET_ALLOW))
	kill  = bpf.Stmt(bpf.Ret|bpf.K, uint32(linux.SECCOMP_RET_KILL_PROCESS))
)

func TestRetargetRequiresOneComparison(t *testing.T) {
	const from, to = 0xc000003e, 0xc00000b7
	compare := bpf.Jump(jeq, from, 0, 1)
	good := []bpf.Instruction{loadArch, compare, allow, kill}
	out, err := retarget(good, from, to)
	if err != nil || out[1].K != to {
		t.Fatalf("%v, error %v", out, err)
	}
	if good[1].K != from {
		t.Error("the input was changed")
	}
	for name, insns := range map[string][]bpf.Instruction{
		"none":       {loadArch, allow},
		"empty":      {},
		"two":        {loadArch, compare, compare, allow, kill},
		"late":       {loadNR, loadArch, compare, allow, kill},
		"of another": {loadNR, compare, allow, kill},
	} {
		if _, err := retarget(insns, from, to); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRefuseX32(t *testing.T) {
	prog, err := bpf.Compile(refuseX32([]bpf.Instruction{allow}), false)
	if err != nil {
		t.Fatal(err)
	}
	for nr, want := range map[uint32]linux.BPFAction{
		0: linux.SECCOMP_RET_ALLOW, 600: linux.SECCOMP_RET_ALLOW, x32Bit - 1: linux.SECCOMP_RET_ALLOW,
		x32Bit: linux.SECCOMP_RET_KILL_PROCESS, x32Bit | 41: linux.SECCOMP_RET_KILL_PROCESS, 0xffffffff: linux.SECCOMP_RET_KILL_PROCESS,
	} {
		data := []byte{byte(nr), byte(nr >> 8), byte(nr >> 16), byte(nr >> 24), 60: 0, 63: 0}
		got, err := bpf.Exec[bpf.LittleEndian](prog, data)
		if err != nil || linux.BPFAction(got) != want {
			t.Errorf("%#x: %v, error %v, want %v", nr, linux.BPFAction(got), err, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	rules := seccomp.RulesOf(seccomp.Script)
	if _, err := Compile("vax", seccomp.Errno, rules, nil); err == nil {
		t.Error("an unknown architecture compiled")
	}
	if _, err := Compile("amd64", "off", rules, nil); err == nil {
		t.Error("an unknown mode compiled")
	}
	bad := []seccomp.Group{{Name: "g", Then: seccomp.Allow, Rules: []seccomp.Rule{{Call: "read"}}}}
	if _, err := Compile("amd64", seccomp.Errno, bad, nil); err == nil {
		t.Error("a rule without a condition compiled")
	}
}

func TestEncodeDecode(t *testing.T) {
	insns, err := Compile("arm64", seccomp.Notify, seccomp.RulesOf(seccomp.Command), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(Encode(insns))
	if err != nil || len(again) != len(insns) {
		t.Fatalf("%d instructions became %d, error %v", len(insns), len(again), err)
	}
	for i := range insns {
		if !insns[i].Equal(again[i]) {
			t.Fatalf("instruction %d: %v became %v", i, insns[i], again[i])
		}
	}
	if _, err := Decode(make([]byte, 9)); err == nil {
		t.Error("nine bytes decoded")
	}
}

// The order of maps in the compiler must not affect the program, because shipped bytes
// are compared with newly compiled ones.
func TestCompileIsDeterministic(t *testing.T) {
	first, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := Files()
		if err != nil {
			t.Fatal(err)
		}
		for name := range first {
			if string(first[name]) != string(again[name]) {
				t.Fatalf("%s differs between two compilations", name)
			}
		}
	}
}
