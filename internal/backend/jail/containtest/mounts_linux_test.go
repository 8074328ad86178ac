package containtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// mountRule lists the flags that a mount must have. Other walls cover most of them:
// no_new_privs makes set-user-id programs harmless, and the filter allows no devices. So only
// this test notices that a mount has lost a flag.
type mountRule struct {
	at string
	// flags are required in every sandbox; native ones only in a root that cordon builds:
	// bubblewrap leaves noexec out where no command can write.
	flags, native string
}

// defaultMountRule applies to the mounts of the system and of grants.
var defaultMountRule = mountRule{flags: "ro nosuid nodev"}

func (s *scene) mountRules() []mountRule {
	rules := []mountRule{
		{at: "/", flags: "ro nosuid nodev", native: "noexec"},
		{at: "/proc", flags: "nosuid nodev noexec"},
		{at: "/tmp", flags: "nosuid nodev"},
		{at: "/dev/shm", flags: "nosuid nodev"},
		{at: "/dev/pts", flags: "nosuid noexec"}, // terminals are devices
		{at: s.workspace, flags: "nosuid nodev"},
		{at: s.params["out"].(string), flags: "nosuid nodev"},
	}
	for _, device := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		rules = append(rules, mountRule{at: "/dev/" + device, flags: "nosuid", native: "noexec"})
	}
	return rules
}

// missing returns the mounts in a mountinfo file that lack a required flag, and the number of
// mounts.
func (s *scene) missing(mountinfo string) (lacking []string, count int) {
	rules := s.mountRules()
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			return append(lacking, fmt.Sprintf("nonsense: %q", line)), count
		}
		at, flags := fields[4], strings.Split(fields[5], ",")
		rule := defaultMountRule
		if i := slices.IndexFunc(rules, func(r mountRule) bool { return r.at == at }); i >= 0 {
			rule = rules[i]
		}
		wanted := strings.Fields(rule.flags)
		if s.suite.jail == policy.JailNative {
			wanted = append(wanted, strings.Fields(rule.native)...)
		}
		for _, flag := range wanted {
			if !slices.Contains(flags, flag) {
				lacking = append(lacking, fmt.Sprintf("%s is not %s", at, flag))
			}
		}
		count++
	}
	return lacking, count
}

func TestContainMounts(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		suite.needsNamespaces(t, "mount")
		look := attempt{wall: "mounts", name: "flags", sh: `cat /proc/self/mountinfo`}
		s := suite.scene(t, look, suite.guarded)
		plantOut(t, s)
		read := filepath.Join(s.directory, "in")
		if err := errors.Join(os.Mkdir(read, 0o755), os.Chmod(read, 0o755)); err != nil {
			t.Fatal(err)
		}
		s.grant(func(p *policy.Policy) { p.Read = append(p.Read, read) })
		r := s.run(t, look)
		lacking, count := s.missing(r.Stdout)
		if len(lacking) > 0 {
			t.Errorf("%s\n%s", strings.Join(lacking, "\n"), show(r))
		}
		for _, at := range []string{"/", "/proc", "/tmp", "/usr", "/dev/pts", "/dev/null", s.workspace, s.params["out"].(string), read} {
			if !strings.Contains(r.Stdout, " "+at+" ") {
				t.Errorf("%s is not a mount", at)
			}
		}
		// The check must be able to fail: no host has all these flags on all mounts.
		if lacking, _ := s.missing(strings.Join(hosttest.Mounts(t), "\n")); len(lacking) == 0 {
			t.Error("the host's own mounts have all flags: the test shows nothing")
		}
		t.Logf("%d mounts", count)
	})
}
