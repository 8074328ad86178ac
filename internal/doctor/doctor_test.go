package doctor

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// host makes a plan as confine.Make does, without a host.
func host(t *testing.T, p policy.Policy, change func(*hostfeature.Features)) confine.Plan {
	t.Helper()
	f := hostfeature.Features{
		UID: 1000, UserNS: hostfeature.Yes(""), Landlock: hostfeature.Yes("ABI 7"), LandlockABI: 7,
		Seccomp: hostfeature.Yes("violations are observed"), SeccompNotify: hostfeature.Yes(""), Cgroup: hostfeature.Yes(""),
	}
	change(&f)
	plan, err := confine.Make(confine.Inputs{Policy: relaxed(p), Features: f})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestWalls(t *testing.T) {
	strict, err := policy.Preset("strict")
	if err != nil {
		t.Fatal(err)
	}
	noUserNS := func(f *hostfeature.Features) { f.UserNS = hostfeature.No("switched off", "switch it on") }
	for _, tt := range []struct {
		name     string
		policy   policy.Policy
		change   func(*hostfeature.Features)
		ok       bool
		verdict  string
		wall     policy.Wall
		expected Wall
	}{
		{
			"all there", policy.Policy{}, func(*hostfeature.Features) {}, true, "the process tier works here with 15 of 15 walls",
			policy.WallLandlock, Wall{Name: "landlock", State: Enforced, Detail: "ABI 7"},
		},
		{
			"no namespaces", policy.Policy{}, noUserNS, true, "the process tier works here with 8 of 15 walls",
			policy.WallMount, Wall{Name: "mount", State: Missing, Reason: "switched off", Remedy: "switch it on"},
		},
		{
			"no namespaces, and they are required", strict, noUserNS, false,
			"the process tier is refused under this policy: it requires userns, mount, pid, net, and 8 of 15 walls stand here",
			policy.WallMount, Wall{Name: "mount", State: Missing, Required: true, Reason: "switched off", Remedy: "switch it on"},
		},
		{
			"neither a private root nor Landlock", policy.Policy{}, func(f *hostfeature.Features) {
				noUserNS(f)
				f.Landlock, f.LandlockABI = hostfeature.No("old", "new"), 0
			}, false, "the process tier is refused under this policy: it requires filesystem, and 7 of 15 walls stand here",
			policy.WallLandlock, Wall{Name: "landlock", State: Missing, Reason: "old", Remedy: "new"},
		},
		{
			"denials are not reported", policy.Policy{}, func(f *hostfeature.Features) {
				f.Seccomp, f.SeccompNotify = hostfeature.Yes("violations are not observed"), hostfeature.No("old", "use Linux 5.5 or newer")
			}, true, "the process tier works here with 15 of 15 walls",
			policy.WallSeccomp, Wall{
				Name: "seccomp", State: Weaker, Required: true, Detail: "violations are not observed",
				Reason: "calls are denied, but not reported", Remedy: "use Linux 5.5 or newer",
			},
		},
		{
			"an old Landlock", policy.Policy{}, func(f *hostfeature.Features) { f.Landlock, f.LandlockABI = hostfeature.Yes("ABI 4"), 4 }, true,
			"the process tier works here with 15 of 15 walls",
			policy.WallLandlock, Wall{
				Name: "landlock", State: Weaker, Detail: "ABI 4",
				Reason: "does not cover device ioctls (seccomp does), signals (pid does), abstract sockets (net does)", Remedy: "use Linux 6.12 or newer",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := host(t, tt.policy, tt.change)
			r := Report{Walls: walls(plan, tt.policy, hostfeature.No("old", "use Linux 5.5 or newer"))}.judged(tt.policy)
			if r.OK != tt.ok || r.Verdict != tt.verdict {
				t.Errorf("ok %v: %s", r.OK, r.Verdict)
			}
			for i, w := range r.Walls {
				if w.Name != policy.Walls()[i] {
					t.Errorf("wall %d is %s", i, w.Name)
				}
				if w.Name == tt.wall {
					if diff := cmp.Diff(tt.expected, w); diff != "" {
						t.Error(diff)
					}
				}
			}
		})
	}
}

func TestFormat(t *testing.T) {
	r := Report{
		Verdict: "the process tier works here with 2 of 4 walls",
		Policy:  "default", Kernel: "6.1.0", Platform: "linux/amd64",
		User:        User{UID: 0, GuestUID: 65534},
		Interpreter: &Interpreter{Found: "/home/a/.pyenv/shims/python3", Path: "/home/a/.pyenv/versions/3.12.1/bin/python3.12", Version: "3.12.1", Shim: true},
		Latency: &Latency{
			Start: plainjson.Milliseconds(31 * time.Millisecond), Runs: 20,
			P50: plainjson.Milliseconds(312345 * time.Nanosecond), Max: plainjson.Milliseconds(2 * time.Millisecond),
		},
		Walls: []Wall{
			{Name: "uid", State: Enforced, Required: true, Detail: "uid 65534"},
			{Name: "userns", State: Missing, Reason: "switched off", Remedy: "switch it on"},
			{Name: "mount", State: Missing, Reason: "switched off", Remedy: "switch it on"},
			{Name: "landlock", State: Weaker, Detail: "ABI 4", Reason: "signals are not covered", Remedy: "use Linux 6.12 or newer"},
			{Name: "cgroup", State: Missing, Required: true, Reason: "not delegated", Remedy: "delegate one"},
			{Name: "environment"},
		},
		Commands: Commands{OK: true, Verdict: "commands run here", Remedy: "mount pids", First: plainjson.Milliseconds(5 * time.Millisecond)},
		Modules: Modules{
			OK: true, Verdict: "modules run here, compiled", Engine: "compiled", Cache: "/home/a/.cache/cordon/wasm", First: plainjson.Milliseconds(4 * time.Millisecond),
			Python: Bundle{OK: true, Path: "/opt/cordon/python-wasm.zip", Version: "3.11.2-6+deb12u8", Patches: 31},
		},
		GVisor: GVisor{OK: true, Verdict: "tier gvisor: runsc is installed"},
	}
	const want = `kernel   6.1.0 (linux/amd64)
user     uid 0; guests run as uid 65534
policy   default
python   CPython 3.12.1 at /home/a/.pyenv/versions/3.12.1/bin/python3.12, behind the shim /home/a/.pyenv/shims/python3
latency  310µs a run in a waiting worker (median of 20, slowest 2ms); 31ms from a cold start

uid           enforced  uid 65534
userns        missing   switched off
                        to fix it: switch it on
mount         missing   for the same reason as userns
landlock      weaker    ABI 4; signals are not covered
                        to fix it: use Linux 6.12 or newer
cgroup        missing   not delegated; memory is limited by address space instead; required by the policy
                        to fix it: delegate one
environment   unknown

the process tier works here with 2 of 4 walls
commands run here (the first took 5ms); to fix it: mount pids
modules run here, compiled (the first took 4ms); compiled code is kept in /home/a/.cache/cordon/wasm
scripts with --tier wasm have CPython 3.11.2 (Debian's 3.11.2-6+deb12u8, 31 patches) at /opt/cordon/python-wasm.zip; not tried (--tier wasm does)
tier gvisor: runsc is installed
`
	var b bytes.Buffer
	if err := Format(&b, r, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Format(&b, r, true); err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer("\x1b[32m", "", "\x1b[33m", "", "\x1b[31m", "", "\x1b[0m", "").Replace(b.String())
	if diff := cmp.Diff(want, plain); diff != "" || plain == b.String() {
		t.Error("colours change more than the colour", diff)
	}
}

func TestNothingWorks(t *testing.T) {
	r := begin(policy.Policy{})
	r.fail(run.Errorf(run.NotFound, "there is no Python"))
	r = r.judged(policy.Policy{})
	var b bytes.Buffer
	if err := Format(&b, r, false); err != nil {
		t.Fatal(err)
	}
	if r.OK || r.Class != run.NotFound || !strings.Contains(b.String(), "\nthe process tier does not work here: there is no Python\n") ||
		strings.Count(b.String(), "there is no Python") != 1 {
		t.Errorf("%+v\n%s", r, b.String())
	}
}

func TestExamine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the process tier needs Linux")
	}
	r := Examine(context.Background(), policy.Policy{}, policy.TierProcess)
	if !r.OK || r.Interpreter == nil || r.Latency == nil || r.Latency.Runs != warmRuns || len(r.Walls) != len(policy.Walls()) || !r.Commands.OK || !r.Modules.OK {
		t.Errorf("%+v", r)
	}
}
