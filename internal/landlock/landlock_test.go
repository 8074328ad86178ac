package landlock

import (
	"slices"
	"testing"
)

func TestCompile(t *testing.T) {
	const (
		tcp   = 3
		scope = 3
	)
	all1, all2, all3, all5 := Access(1<<13-1), Access(1<<14-1), Access(1<<15-1), Access(1<<16-1)
	for abi, want := range map[int][]uint64{
		1: {uint64(all1)}, 2: {uint64(all2)}, 3: {uint64(all3)}, 4: {uint64(all3), tcp}, 5: {uint64(all5), tcp},
		6: {uint64(all5), tcp, scope}, 7: {uint64(all5), tcp, scope}, 99: {uint64(all5), tcp, scope},
	} {
		set := Compile(abi, []Rule{{Path: "/tmp", Access: Scratch}, {Path: "/dev/null", Access: Sink, File: true}})
		if !slices.Equal(set.Handled, want) {
			t.Errorf("ABI %d handles %#x, want %#x", abi, set.Handled, want)
		}
		for _, r := range set.Rules {
			// The kernel refuses a rule with a right that the ruleset does
			// not handle, or with a right on directories for a file.
			if uint64(r.Access)&^set.Handled[0] != 0 {
				t.Errorf("ABI %d: %s has rights %#x that are not handled", abi, r.Path, r.Access)
			}
			if r.File && r.Access&^onFiles != 0 {
				t.Errorf("ABI %d: the file %s has rights %#x of a directory", abi, r.Path, r.Access)
			}
		}
	}
}

func TestNoRuleAllowsMakingDevices(t *testing.T) {
	for name, access := range map[string]Access{"read": Read, "sink": Sink, "scratch": Scratch} {
		if access&(MakeChar|MakeBlock|Execute|IoctlDev) != 0 {
			t.Errorf("%s grants %#x", name, access)
		}
	}
	if Read&(WriteFile|RemoveFile|MakeReg|Truncate) != 0 {
		t.Error("read grants writing")
	}
}

func TestGaps(t *testing.T) {
	all := []Gap{GapTruncate, GapTCP, GapDevices, GapSignals, GapAbstract}
	for abi, first := range map[int]int{1: 0, 2: 0, 3: 1, 4: 2, 5: 3, 6: 5, 7: 5, 99: 5} {
		if got := Gaps(abi); !slices.Equal(got, all[first:]) {
			t.Errorf("ABI %d lacks %q, want %q", abi, got, all[first:])
		}
	}
}
