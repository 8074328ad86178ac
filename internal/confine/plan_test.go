package confine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var (
	yes = hostfeature.Yes("")
	no  = hostfeature.No("not here", "get another host")
)

// full is a host that has everything, with an ordinary user.
func full() hostfeature.Features {
	return hostfeature.Features{
		UID: 1000, GID: 1000, SetUID: no, UserNS: yes, Landlock: hostfeature.Yes("ABI 7"), LandlockABI: 7,
		Seccomp: yes, SeccompNotify: yes, Cgroup: yes,
	}
}

func with(change func(*hostfeature.Features)) hostfeature.Features {
	f := full()
	change(&f)
	return f
}

const allNamespaces = CloneNewUser | CloneNewNS | CloneNewPID | CloneNewNet | CloneNewIPC | CloneNewUTS | CloneNewCgroup

// A host without namespaces lacks many walls for one reason, which is reported once.
func TestRefusalNamesEachCauseOnce(t *testing.T) {
	_, err := Make(Inputs{Command: true, Features: with(func(f *hostfeature.Features) { f.UserNS = no })})
	if err == nil || strings.Count(err.Error(), "get another host") != 1 || !strings.Contains(err.Error(), "pid (pid: for the same reason as mount)") {
		t.Errorf("%v", err)
	}
}

func TestMake(t *testing.T) {
	strict := policy.Policy{Require: []policy.Wall{policy.WallUser}}
	for _, test := range []struct {
		name     string
		policy   policy.Policy
		features hostfeature.Features
		want     Plan // the parts that are compared
		refused  []string
	}{
		{name: "everything", features: full(), want: Plan{Namespaces: allNamespaces, UID: 1000, Landlock: 7, Seccomp: SeccompNotify, Cgroup: true}},
		{
			name:     "root gives its id up",
			features: with(func(f *hostfeature.Features) { f.UID, f.GID, f.SetUID = 0, 0, yes }),
			want:     Plan{Namespaces: allNamespaces, UID: Nobody, SwitchID: true, DropGroups: true, Landlock: 7, Seccomp: SeccompNotify, Cgroup: true},
		},
		{
			name:     "root that cannot",
			features: with(func(f *hostfeature.Features) { f.UID, f.GID = 0, 0 }),
			refused:  []string{"uid", "not here"},
		},
		{
			name:     "no namespaces",
			features: with(func(f *hostfeature.Features) { f.UserNS = no }),
			want:     Plan{UID: 1000, Landlock: 7, Seccomp: SeccompNotify, Cgroup: true},
		},
		{
			name: "no namespaces, and the policy wants them", policy: strict,
			features: with(func(f *hostfeature.Features) { f.UserNS = no }),
			refused:  []string{"userns", "not here", "get another host"},
		},
		{
			name:     "no Landlock: the private root is enough",
			features: with(func(f *hostfeature.Features) { f.Landlock, f.LandlockABI = no, 0 }),
			want:     Plan{Namespaces: allNamespaces, UID: 1000, Seccomp: SeccompNotify, Cgroup: true},
		},
		{
			name:     "neither namespaces nor Landlock",
			features: with(func(f *hostfeature.Features) { f.UserNS, f.Landlock, f.LandlockABI = no, no, 0 }),
			refused:  []string{"filesystem", "mount", "landlock"},
		},
		{
			name:     "no notification",
			features: with(func(f *hostfeature.Features) { f.SeccompNotify = no }),
			want:     Plan{Namespaces: allNamespaces, UID: 1000, Landlock: 7, Seccomp: SeccompErrno, Cgroup: true},
		},
		{
			name:     "no seccomp",
			features: with(func(f *hostfeature.Features) { f.Seccomp, f.SeccompNotify = no, no }),
			refused:  []string{"seccomp"},
		},
		{
			name: "no seccomp, and the policy does without", policy: policy.Policy{Prefer: []policy.Wall{policy.WallSeccomp}},
			features: with(func(f *hostfeature.Features) { f.Seccomp, f.SeccompNotify = no, no }),
			want:     Plan{Namespaces: allNamespaces, UID: 1000, Landlock: 7, Cgroup: true},
		},
		{
			name:     "no cgroup",
			features: with(func(f *hostfeature.Features) { f.Cgroup = no }),
			want:     Plan{Namespaces: allNamespaces, UID: 1000, Landlock: 7, Seccomp: SeccompNotify},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Make(Inputs{Policy: test.policy, Features: test.features})
			if test.refused != nil {
				if !errors.Is(err, run.ErrUnsupported) {
					t.Fatalf("not refused: %v", err)
				}
				for _, word := range test.refused {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("%q does not say %q", err, word)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := Plan{Namespaces: p.Namespaces, UID: p.UID, SwitchID: p.SwitchID, DropGroups: p.DropGroups, Landlock: p.Landlock, Seccomp: p.Seccomp, Cgroup: p.Cgroup}
			if got.Namespaces != test.want.Namespaces || got.UID != test.want.UID ||
				got.SwitchID != test.want.SwitchID || got.DropGroups != test.want.DropGroups || got.Landlock != test.want.Landlock ||
				got.Seccomp != test.want.Seccomp || got.Cgroup != test.want.Cgroup {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			for _, w := range policy.Walls() {
				if _, missing := p.Missing[w]; missing == p.Walls[w].Enforced() || p.Walls[w].State == "" {
					t.Errorf("%s is reported as %q, missing: %v", w, p.Walls[w], missing)
				}
			}
			if (p.Root != nil) != (p.Namespaces&CloneNewNS != 0) {
				t.Errorf("a private root needs a mount namespace and comes with it: %v", p.Root)
			}
		})
	}
}

// A private root contains what the plan names, and nothing else of the host.
func TestRoot(t *testing.T) {
	python := []Mount{{Path: "/usr/bin/python3", Kind: BindFile}, {Path: "/usr/lib/python3", Kind: BindDir}, {Path: "/lib", Kind: Symlink, Target: "usr/lib"}}
	p, err := Make(Inputs{Policy: policy.Policy{Read: []string{"/data", "/data/sub", "/models.bin"}}, Files: python,
		Features: with(func(f *hostfeature.Features) { f.PlainFiles = []string{"/models.bin"} })})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]MountKind{}
	for _, m := range p.Root {
		kinds[m.Path] = m.Kind
	}
	for path, kind := range map[string]MountKind{
		"/usr/bin/python3": BindFile, "/usr/lib/python3": BindDir, "/lib": Symlink, "/data": BindDir, "/models.bin": BindFile,
		"/dev/null": BindDevice, Scratch: EmptyDir, "/etc/passwd": TextFile,
	} {
		if kinds[path] != kind {
			t.Errorf("%s is %q, want %q", path, kinds[path], kind)
		}
	}
	for _, path := range []string{"/", "/etc", "/proc", "/sys", "/dev", "/root", "/home", "/etc/shadow"} {
		if kinds[path] != "" {
			t.Errorf("%s is in the root", path)
		}
	}
	if slices.Contains(p.Readable, "/data/sub") || !slices.Contains(p.Readable, "/data") {
		t.Errorf("what lies below another is left out: %v", p.Readable)
	}
}

func TestWithoutNamesEachWall(t *testing.T) {
	for _, w := range policy.Walls() {
		p, err := Make(Inputs{Features: full(), Without: []policy.Wall{w}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Walls[w].Enforced() {
			t.Errorf("%s was taken away and is reported as %q", w, p.Walls[w])
		}
	}
}

// A limit on scripts that this host cannot enforce is reported.
func TestUnlimited(t *testing.T) {
	root := func(f *hostfeature.Features) { f.UID, f.GID, f.SetUID = 0, 0, yes }
	for name, test := range map[string]struct {
		change func(*hostfeature.Features)
		want   string
	}{
		"nothing":          {func(*hostfeature.Features) {}, ""},
		"no notifications": {func(f *hostfeature.Features) { f.SeccompNotify = no }, "threads are not limited: not here"},
		"as root":          {root, ""},
		"as root without namespaces": {func(f *hostfeature.Features) {
			root(f)
			f.UserNS, f.SetCPUs = no, yes
		}, ""},
		"as root without namespaces and CAP_SYS_NICE": {func(f *hostfeature.Features) {
			root(f)
			f.UserNS, f.SetCPUs = no, no
		}, "CPUs are not limited: not here"},
		"as a user without namespaces": {func(f *hostfeature.Features) { f.UserNS, f.SetCPUs = no, no }, ""},
	} {
		plan, err := Make(Inputs{Features: with(test.change)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := plan.Walls[policy.WallRlimit]; got != policy.EnforcedWall(test.want) {
			t.Errorf("%s: %v, want %q", name, got, test.want)
		}
	}
	plan, err := Make(Inputs{Features: full(), Without: []policy.Wall{policy.WallSeccomp}})
	if got := plan.Walls[policy.WallRlimit].Detail; err != nil || !strings.Contains(got, "CPUs are not limited") {
		t.Errorf("without a filter: %q, %v", got, err)
	}
}
