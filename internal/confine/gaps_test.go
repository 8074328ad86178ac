package confine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
)

func withLandlock(abi int, change func(*hostfeature.Features)) hostfeature.Features {
	return with(func(f *hostfeature.Features) {
		f.LandlockABI, f.Landlock = abi, hostfeature.Yes(fmt.Sprintf("ABI %d", abi))
		change(f)
	})
}

func noNamespaces(f *hostfeature.Features) { f.UserNS = no }
func nothingLess(*hostfeature.Features)    {}

// What an older Landlock leaves open is closed by another wall or by the second filter;
// otherwise the host is refused.
func TestExposure(t *testing.T) {
	type exposure = seccomp.Exposure
	for _, test := range []struct {
		abi     int
		less    func(*hostfeature.Features)
		without []policy.Wall
		want    exposure
	}{
		{2, nothingLess, nil, exposure{}},
		{7, nothingLess, nil, exposure{}},
		{1, noNamespaces, nil, exposure{Owners: true, Truncation: true, Signals: true}},
		{2, noNamespaces, nil, exposure{Owners: true, Truncation: true, Signals: true}},
		{3, noNamespaces, nil, exposure{Owners: true, Signals: true}},
		{5, noNamespaces, nil, exposure{Owners: true, Signals: true}},
		{6, noNamespaces, nil, exposure{Owners: true}},
		{7, noNamespaces, nil, exposure{Owners: true}},
		{2, nothingLess, []policy.Wall{policy.WallPID}, exposure{Signals: true}},
		{2, nothingLess, []policy.Wall{policy.WallMount}, exposure{Owners: true, Truncation: true}},
		{7, noNamespaces, []policy.Wall{policy.WallLandlock}, exposure{Owners: true, Truncation: true, Signals: true}},
	} {
		p, err := Make(Inputs{Features: withLandlock(test.abi, test.less), Without: test.without})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Exposure(); got != test.want {
			t.Errorf("ABI %d without %v, namespaces %#x: %+v, want %+v", test.abi, test.without, p.Namespaces, got, test.want)
		}
	}
}

func TestWallReportsLandlockGaps(t *testing.T) {
	doesWithout := policy.Policy{Prefer: []policy.Wall{policy.WallSeccomp}}
	for name, test := range map[string]struct {
		in   Inputs
		want policy.WallStatus
	}{
		"current": {Inputs{Features: withLandlock(6, noNamespaces)}, policy.EnforcedWall("ABI 6")},
		"Linux 6.1": {
			Inputs{Features: withLandlock(2, nothingLess)},
			policy.EnforcedWall("ABI 2: does not cover truncating files (mount does), TCP (net does), device ioctls (seccomp does), signals (pid does), abstract sockets (net does)"),
		},
		"Linux 6.1 without namespaces": {
			Inputs{Features: withLandlock(2, noNamespaces)},
			policy.EnforcedWall("ABI 2: does not cover truncating files (seccomp does), TCP (seccomp does), device ioctls (seccomp does), signals (seccomp does), abstract sockets (seccomp does)"),
		},
		"Linux 6.8 without namespaces": {
			Inputs{Features: withLandlock(4, noNamespaces)},
			policy.EnforcedWall("ABI 4: does not cover device ioctls (seccomp does), signals (seccomp does), abstract sockets (seccomp does)"),
		},
		"a command in the host's network": {
			Inputs{Features: withLandlock(5, nothingLess), Command: true, Policy: policy.Policy{Egress: policy.EgressPreflight}},
			policy.EnforcedWall("ABI 5: does not cover signals (pid does), abstract sockets (nothing does)"),
		},
		"no filter, and Landlock covers files": {
			Inputs{Policy: policy.Policy{Prefer: append([]policy.Wall{policy.WallNetwork}, doesWithout.Prefer...)}, Features: withLandlock(3, func(f *hostfeature.Features) {
				f.UserNS, f.Seccomp, f.SeccompNotify = no, no, no
			})},
			policy.EnforcedWall("ABI 3: does not cover TCP (nothing does), device ioctls (nothing does), signals (nothing does), abstract sockets (nothing does)"),
		},
	} {
		p, err := Make(test.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := p.Walls[policy.WallLandlock]; got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}

	// Nothing protects files from truncation, so no wall protects files.
	_, err := Make(Inputs{Policy: doesWithout, Features: withLandlock(2, func(f *hostfeature.Features) {
		f.UserNS, f.Seccomp, f.SeccompNotify = no, no, no
	})})
	if err == nil || !strings.Contains(err.Error(), "filesystem (mount: not here; get another host, landlock: ABI 2 does not protect files from truncation") {
		t.Errorf("files that can be emptied: %v", err)
	}
}
