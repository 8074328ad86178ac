package containtest

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// visible lists the attempts that may succeed without namespaces, with the reason. Even then
// they must not leak a secret or touch anything.
var visible = map[string]string{
	"processes/see": processesVisible,

	"files/passwd of the host":       "programs need the list of users",
	"files/groups of the host":       "programs need the list of groups",
	"files/writable mounts":          "mounts stay as they are; Landlock forbids to write to them",
	"system/files in etc":            namesVisible,
	"system/directories at the root": namesVisible,
	"system/kernel settings in /sys": namesVisible,
	"cgroup/list the cgroup tree":    namesVisible,

	"system/host name":                             procVisible,
	"system/partitions and devices":                procVisible,
	"system/mounts of the host":                    procVisible,
	"system/unlisted files in /proc":               procVisible,
	"system/kernel command line and configuration": procVisible,
	"ipc/list of abstract sockets":                 procVisible,
	"ipc/list of shared memory":                    procVisible,
	"network/connections of the host":              procVisible,
	"network/routes":                               procVisible,
	"network/name server":                          namesVisible,

	"processes/signal all processes":  "the call succeeds, and signals no process outside; the canary shows that",
	"devices/capabilities of its own": "an ordinary user cannot empty the bounding set; no-new-privs makes it useless",
}

// refused lists the attempts that do not even start without namespaces: Landlock cannot do what
// their policy asks for.
var refused = map[string]bool{
	"read grant/below a writable workspace":                    true,
	"ipc/abstract socket of the host, on its network":          true,
	"ipc/abstract datagram socket of the host, on its network": true,
}

// mustBeRefused checks that the policy of a scene is refused, by the backend or for its command.
func (s *scene) mustBeRefused(t *testing.T, a attempt) {
	t.Helper()
	b, err := jail.New(jail.Options{Policy: s.policy, LandlockABI: landlockABI()})
	if err == nil {
		req := s.request
		req.Command.Args, req.Command.Env = s.command(a)
		_, err = runIn(t.Context(), b, s.policy, req)
		if closed := b.Close(); closed != nil {
			t.Error(closed)
		}
	}
	if run.ClassOf(err) != run.Unsupported {
		t.Errorf("%v: not refused", err)
	}
}

const (
	processesVisible = "without a pid namespace /proc lists all processes"
	namesVisible     = "Landlock does not hide that a file exists"
	procVisible      = "without namespaces /proc shows the host's"
)

// TestWithoutNamespaces runs the tests in a container that refuses namespaces, as an ordinary
// user, whose commands have the same user.
func TestWithoutNamespaces(t *testing.T) {
	if hosttest.Degraded() {
		t.Skip("this is the inside")
	}
	user := hosttest.OrdinaryUser(t)
	t.Setenv("CORDON_TEST_JAIL", string(policy.JailLandlock))
	tests := []string{"TestContainment", "TestContainKilledRunner", "TestContainNeighborsOfOneUser"}
	if hosttest.Long() {
		tests = append(tests, "TestContainCloseWhileRunning", "TestContainCanceledAtAnyMoment", "TestContainKilledFromOutside",
			"TestContainTwoRunners", "TestContainLimits", "TestContainWorkspaceExchanged", "TestContainGrantRedirected",
			"TestContainWorkspaceBelowLinks", "TestContainTerminalOfTheRunner")
	}
	for _, name := range tests {
		t.Run(name, func(t *testing.T) { user.RunDegraded(t, name) })
	}
	t.Run("Docker's profile", func(t *testing.T) {
		hosttest.UseDockerProfile(t)
		user.RunDegraded(t, "TestContainment")
	})
	// On older kernels the Runner checks signals, or a filter protects files from truncation.
	for name, abi := range map[string]string{"Linux 6.10": "5", "Linux 6.1": "2"} {
		t.Run(name, func(t *testing.T) {
			hosttest.OnlyLong(t, "the newest Landlock is tested always")
			t.Setenv(abiVariable, abi)
			user.RunDegraded(t, "TestContainment")
			user.RunDegraded(t, "TestContainKilledRunner")
		})
	}
}

// landlockABI is the version of Landlock to test, from the environment; 0 means the kernel's.
func landlockABI() int {
	abi, err := strconv.Atoi(cmp.Or(os.Getenv(abiVariable), "0"))
	if err != nil {
		panic(abiVariable + ": " + err.Error())
	}
	return abi
}

const abiVariable = "CORDON_TEST_LANDLOCK"

// needsNamespaces skips a test of what only namespaces provide.
func (s *suite) needsNamespaces(t *testing.T, what string) {
	t.Helper()
	if s.jail == policy.JailLandlock {
		t.Skip("without namespaces there is no " + what)
	}
}

// The exceptions are about existing attempts.
func TestVisibleAttemptsExist(t *testing.T) {
	names := map[string]bool{}
	for _, a := range attempts() {
		names[a.wall+"/"+a.name] = true
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(visible)), slices.Collect(maps.Keys(refused)), slices.Collect(maps.Keys(ofItsKernel))) {
		if !names[name] {
			t.Errorf("no attempt is called %s", name)
		}
	}
}
