package confine

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/landlock"
)

// names lists the steps.
func names(p *program) []string {
	var all []string
	for _, s := range p.steps {
		all = append(all, s.name)
	}
	return all
}

func allWallsPlan() Plan {
	return Plan{
		Namespaces: CloneNewUser | CloneNewNS | CloneNewPID | CloneNewNet | CloneNewUTS,
		UID:        Nobody, GID: Nobody, SwitchID: true, DropGroups: true,
		Root: []Mount{
			{Path: "/usr/lib", Kind: BindDir}, {Path: "/dev/null", Kind: BindDevice},
			{Path: Scratch, Kind: EmptyDir}, {Path: "/lib", Kind: Symlink, Target: "usr/lib"},
			{Path: "/etc/passwd", Kind: TextFile, Target: "guest\n"},
		},
		NoNewPrivs: true, Capabilities: true, Rlimits: true, Environment: true,
	}
}

func TestOrderOfSteps(t *testing.T) {
	p := compile(Spec{Plan: allWallsPlan(), Argv: []string{"/usr/bin/python3"}}, belongings{null: 5, control: 6, trees: []int{7, 8}})
	want := []string{
		"session", "descriptors", "wait for ids", "keep namespaces", "bounding set", "switch user", "private mounts",
		"new root", "mount /usr/lib", "mount /dev/null", "mount /tmp", "mount /lib", "mount /etc/passwd", "read-only root", "change root",
		"set host name", "limits", "capabilities", "no new privileges", "execute /usr/bin/python3",
	}
	if got := names(p); !slices.Equal(got, want) {
		t.Errorf("steps\n%q, want\n%q", got, want)
	}
	if last := p.calls[len(p.calls)-1]; last.number != unix.SYS_EXECVE {
		t.Errorf("the last call is %d", last.number)
	}
	for i, c := range p.calls {
		if c.lender >= i {
			t.Errorf("call %d borrows from %d, which is not made yet", i, c.lender)
		}
	}
}

// A copy of the host's memory is made undumpable before it gets another user.
func TestCopyIsHidden(t *testing.T) {
	plan := allWallsPlan()
	plan.Namespaces, plan.Root = 0, nil
	p := compile(Spec{Plan: plan, Argv: []string{"/usr/bin/python3"}}, belongings{null: 5, control: 6})
	hidden := slices.IndexFunc(p.calls, func(c call) bool { return c.number == unix.SYS_PRCTL && c.args[0] == unix.PR_SET_DUMPABLE })
	another := slices.IndexFunc(p.calls, func(c call) bool { return c.number == unix.SYS_SETRESGID })
	if hidden < 0 || hidden > another || p.calls[hidden].args[1] != 0 {
		t.Errorf("call %d hides the memory, call %d changes the user", hidden, another)
	}
}

// Trees that the Runner has not opened are opened before the new root is mounted over
// anything, and each is mounted by the call that borrows it.
func TestOrdinaryUserOpensTreesFirst(t *testing.T) {
	plan := allWallsPlan()
	plan.SwitchID = false
	p := compile(Spec{Plan: plan, Argv: []string{"/usr/bin/python3"}}, belongings{null: 5, control: 6})
	root := slices.IndexFunc(p.calls, func(c call) bool { return c.number == unix.SYS_MOUNT && p.steps[c.step].name == "new root" })
	var lenders []string
	for _, c := range p.calls {
		if c.number != unix.SYS_MOVE_MOUNT {
			continue
		}
		if c.lender < 0 || c.lender > root || p.calls[c.lender].number != unix.SYS_OPEN_TREE {
			t.Fatalf("%s: the tree comes from call %d", p.steps[c.step].name, c.lender)
		}
		lenders = append(lenders, p.steps[p.calls[c.lender].step].name+" for "+p.steps[c.step].name)
	}
	if want := []string{"open /usr/lib for mount /usr/lib", "open /dev/null for mount /dev/null"}; !slices.Equal(lenders, want) {
		t.Errorf("%q, want %q", lenders, want)
	}
}

func TestProgramClosesOtherDescriptors(t *testing.T) {
	tests := []struct {
		name string
		have belongings
		want [][2]uintptr
	}{
		{"no trees", belongings{null: 5, control: 6}, [][2]uintptr{{3, 5}, {7, 1019}, {1023, 1<<31 - 1}}},
		{"trees beside each other", belongings{null: 5, control: 3, trees: []int{7, 8}}, [][2]uintptr{{4, 6}, {9, 1019}, {1023, 1<<31 - 1}}},
		{"a tree above our own numbers", belongings{null: 5, control: 6, trees: []int{2000}}, [][2]uintptr{{3, 5}, {7, 1019}, {1023, 1999}, {2001, 1<<31 - 1}}},
		{"a tree just above", belongings{null: 5, control: 1023, trees: []int{1024}}, [][2]uintptr{{3, 1019}, {1025, 1<<31 - 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got [][2]uintptr
			for _, c := range compile(Spec{Plan: allWallsPlan(), Argv: []string{"/x"}}, tt.have).calls {
				if c.number == unix.SYS_CLOSE_RANGE {
					got = append(got, [2]uintptr{c.args[0], c.args[1]})
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// The order of a command's steps matters, as for a script.
func TestOrderOfCommandSteps(t *testing.T) {
	plan := allWallsPlan()
	plan.Landlock, plan.Seccomp = 7, SeccompNotify
	p := compile(Spec{Plan: plan, Command: &Command{
		Dir: "/work", Scratch: Scratch, ProxyPort: 3128, Terminal: true, Filter: make([]byte, 8), Limits: []Limit{{Resource: unix.RLIMIT_NOFILE, Value: 8}},
		Landlock: landlock.Compile(7, []landlock.Rule{{Path: "/work", Access: landlock.Read}}),
	}}, belongings{null: 5, control: 6, trees: []int{7, 8}, streams: [3]int{9, 10, 11}, init: 12, groups: []int{13}})
	want := []string{
		"session", "descriptors", "wait for ids", "bounding set", "switch user", "private mounts",
		"new root", "mount /usr/lib", "mount /dev/null", "mount /tmp", "mount /lib", "mount /etc/passwd", "read-only root", "change root",
		"set host name", "network", "open /proc", "open /tmp", "cgroup", "enter /work", "capabilities", "no new privileges", "landlock", "landlock: open /work", "enter landlock",
		"hide", "die with the Runner", "terminal", "seccomp", "hand over", "limits", "init",
	}
	if p.shared {
		want = slices.DeleteFunc(want, func(step string) bool { return step == "hide" })
	}
	if got := names(p); !slices.Equal(got, want) {
		t.Errorf("steps\n%q, want\n%q", got, want)
	}
	if last := p.calls[len(p.calls)-1]; last.number != unix.SYS_EXECVEAT {
		t.Errorf("the last call is %d", last.number)
	}
	// A step without a call would be a wall that is only claimed.
	made := map[int]int{}
	for i, c := range p.calls {
		made[c.step]++
		if c.lender >= i {
			t.Errorf("call %d borrows from %d, which is not made yet", i, c.lender)
		}
	}
	for i, step := range p.steps {
		if made[i] == 0 {
			t.Errorf("nothing is done in the step %q", step.name)
		}
	}
}
