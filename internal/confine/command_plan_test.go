package confine

import (
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/policy"
)

// A command may start processes and use sockets, so the walls that replace namespaces for
// a script are not enough for it.
func TestMakeForCommands(t *testing.T) {
	for _, test := range []struct {
		name     string
		policy   policy.Policy
		features hostfeature.Features
		refused  string
		net      policy.WallStatus
	}{
		{name: "everything", features: full(), net: policy.EnforcedWall("nothing but a loopback of its own")},
		{
			name: "grants", policy: policy.Policy{AllowNet: []string{"example.com:443"}}, features: full(),
			net: policy.EnforcedWall("nothing but a loopback of its own, and a proxy to example.com:443"),
		},
		{name: "no namespaces", features: with(func(f *hostfeature.Features) { f.UserNS = no }), refused: "userns"},
		{
			name: "the host's network", policy: policy.Policy{Egress: policy.EgressNone}, features: full(),
			net: policy.MissingWall("the policy leaves commands the host's network (egress: none)"),
		},
		{
			name: "the host's network, and none", features: full(), refused: "net (",
			policy: policy.Policy{Egress: policy.EgressPreflight, Require: []policy.Wall{policy.WallNet}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Make(Inputs{Policy: test.policy, Features: test.features, Command: true})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("error %v, want one about %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Walls[policy.WallNet] != test.net {
				t.Errorf("net: %q, want %q", p.Walls[policy.WallNet], test.net)
			}
			if own := p.Namespaces&CloneNewNet != 0; own != test.net.Enforced() {
				t.Errorf("a network namespace of its own: %v", own)
			}
			if p.Inside != CommandID {
				t.Errorf("id inside: %d", p.Inside)
			}
		})
	}
}

// The names of the host's name servers are visible only with the host's network.
func TestNameServersOnlyWithHostNetwork(t *testing.T) {
	for egress, want := range map[policy.Egress]bool{policy.EgressStrict: false, policy.EgressPreflight: true, policy.EgressNone: true} {
		p, err := Make(Inputs{Policy: policy.Policy{Egress: egress}, Features: full(), Command: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(p.Root, func(m Mount) bool { return m.Path == "/etc/resolv.conf" }); got != want {
			t.Errorf("%s: /etc/resolv.conf is there: %v", egress, got)
		}
	}
}

// Files are masked after the file system with them is mounted.
func TestMasksFollowTheirMounts(t *testing.T) {
	p, err := Make(Inputs{Features: full(), Command: true, Masks: []Mount{{Path: "/proc/keys", Kind: MaskedFile}}})
	if err != nil {
		t.Fatal(err)
	}
	proc := slices.IndexFunc(p.Root, func(m Mount) bool { return m.Kind == Proc })
	cover := slices.Index(p.Root, Mount{Path: "/proc/keys", Kind: MaskedFile})
	if proc < 0 || cover < proc {
		t.Errorf("/proc is mount %d, the cover %d", proc, cover)
	}
}
