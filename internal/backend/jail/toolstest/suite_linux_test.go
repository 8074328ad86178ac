package toolstest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The tests in this package run unchanged programs that people use, and check the workspace
// from the host. People switch off a wall that breaks a compiler or a package manager.

// jails are the backends that can build a sandbox. Every program must run in each of them. The
// environment selects another one for a host without namespaces.
func jails() []policy.JailBackend {
	if name := os.Getenv("CORDON_TEST_JAIL"); name != "" {
		return []policy.JailBackend{policy.JailBackend(name)}
	}
	return []policy.JailBackend{policy.JailNative, policy.JailBwrap}
}

// gvisor stands for the tier of that name, which no policy can name as a jail.
const gvisor policy.JailBackend = "gvisor"

// onGVisor reports whether the commands of a policy run on gVisor.
func onGVisor(p policy.Policy) bool { return p.Trust == policy.TrustThirdParty }

// TestToolsOnGVisor runs the programs on gVisor. TestToolsPrivileges is not among them: gVisor
// has a log of its own, which dmesg shows. TestToolsEgressOnGVisor is apart.
func TestToolsOnGVisor(t *testing.T) {
	hosttest.Slow(t, "the same programs run in the other jails")
	t.Setenv("CORDON_RUNSC", hosttest.NeedsExtra(t, hosttest.Runsc))
	t.Setenv("CORDON_TEST_JAIL", string(gvisor))
	for name, test := range map[string]func(*testing.T){
		"gcc": TestToolsGCC, "make": TestToolsMake, "git": TestToolsGit, "sqlite": TestToolsSQLite, "tar": TestToolsTar,
		"pipelines": TestToolsPipelines, "python": TestToolsPython, "python processes": TestToolsPythonProcesses, "node": TestToolsNode,
		"perl": TestToolsPerl, "daemon": TestToolsDaemon, "processes": TestToolsProcesses, "locale": TestToolsLocale, "streams": TestToolsStreams,
		"terminal": TestToolsTerminal, "npm": TestToolsNPM, "go": TestToolsGo, "locations": TestToolsLocations, "names": TestToolsNames,
	} {
		t.Run(name, func(t *testing.T) {
			if slices.Contains([]string{"python", "npm", "go"}, name) {
				hosttest.OnlyLong(t, "system calls of gVisor take longer")
			}
			test(t)
		})
	}
}

// eachJail runs a test with the policy for commands, once for each jail.
func eachJail(t *testing.T, test func(t *testing.T, p policy.Policy)) {
	t.Helper()
	for _, builder := range jails() {
		t.Run(string(builder), func(t *testing.T) {
			if builder == policy.JailBwrap {
				hosttest.Needs(t, "bwrap")
			}
			p := commandPolicy(t, builder)
			runner, err := cordon.NewRunner(cordon.Options{Policy: p, Tier: policy.TierJail})
			if errors.Is(err, run.ErrUnsupported) {
				hosttest.Lacks(t, "%v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := runner.Close(); err != nil {
				t.Fatal(err)
			}
			test(t, p)
		})
	}
}

// needsNamespaces skips the rest of a test: without namespaces its programs do not work, for the
// given reason.
func needsNamespaces(t *testing.T, p policy.Policy, why string) {
	t.Helper()
	if p.Jail == policy.JailLandlock {
		t.Skip("without namespaces, " + why)
	}
}

// TestToolsWithoutNamespaces runs the tests in a container that refuses namespaces, as an
// ordinary user. TestToolsEgress needs some for its private internet; its commands have none.
func TestToolsWithoutNamespaces(t *testing.T) {
	hosttest.OnlyLong(t, "the same programs run in the other jails")
	if hosttest.Degraded() {
		t.Skip("this is the inside")
	}
	user := hosttest.OrdinaryUser(t)
	t.Setenv("CORDON_TEST_JAIL", string(policy.JailLandlock))
	for _, name := range []string{"GCC", "Make", "Git", "SQLite", "Tar", "Pipelines", "Python", "Node", "Locations", "Terminal", "Names", "Privileges", "Streams"} {
		user.RunDegraded(t, "TestTools"+name)
	}
	user.Run(t, "TestToolsEgress")
}

func commandPolicy(t testing.TB, builder policy.JailBackend) policy.Policy {
	t.Helper()
	p, err := policy.Preset("command")
	if err != nil {
		t.Fatal(err)
	}
	if builder == gvisor {
		p.Trust = policy.TrustThirdParty // such commands run on gVisor
	} else {
		p.Jail = builder
	}
	p.Limits.WallTime = 4 * time.Minute // a program that hangs is ended; one on a busy machine is not
	return p
}

// workshop is a Runner with a workspace for commands.
type workshop struct {
	t      testing.TB
	runner *cordon.Runner
	dir    string
	env    map[string]string
}

func openWorkshop(t testing.TB, p policy.Policy) *workshop {
	t.Helper()
	runner, err := cordon.NewRunner(cordon.Options{Policy: p, Tier: policy.TierJail})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return &workshop{t: t, runner: runner, dir: t.TempDir(), env: map[string]string{}}
}

// scripts is openWorkshop for commands that are interpreters.
func scripts(t testing.TB, p policy.Policy) *workshop {
	t.Helper()
	p.AllowInterpreters = true
	return openWorkshop(t, p)
}

func (w *workshop) request(req run.Request) run.Result {
	w.t.Helper()
	req.Command.Workspace = w.dir
	if req.Command.Env == nil {
		req.Command.Env = w.env
	}
	result, err := w.runner.Run(w.t.Context(), req)
	if err != nil {
		w.t.Fatalf("%q: %v", req.Command.Args, err)
	}
	return result
}

func (w *workshop) run(command ...string) run.Result {
	w.t.Helper()
	return w.request(run.Request{Command: run.Command{Args: command}})
}

// ok checks that a command succeeds without violations, and returns its output.
func (w *workshop) ok(command ...string) string {
	w.t.Helper()
	result := w.run(command...)
	mustSucceed(w.t, command, result)
	return result.Stdout
}

// shell is ok for a script, which is passed on standard input so that it is not checked as an
// argument.
func (w *workshop) shell(script string) string {
	w.t.Helper()
	result := w.request(run.Request{Command: run.Command{Args: []string{"sh", "-eu"}}, Stdin: script})
	mustSucceed(w.t, script, result)
	return result.Stdout
}

func mustSucceed(t testing.TB, what any, result run.Result) {
	t.Helper()
	if !result.OK() {
		t.Fatalf("%q: %s: %s\nviolations %+v\nstdout %s\nstderr %s",
			what, result.Outcome, result.Error, result.Violations, tail(result.Stdout), tail(result.Stderr))
	}
	if len(result.Violations) > 0 {
		t.Errorf("%q met a wall: %+v", what, result.Violations)
	}
}

// tail shortens messages: the last output of a program says why it failed.
func tail(text string) string {
	const most = 4000
	return text[max(0, len(text)-most):]
}

// want is ok for a command whose output is known.
func (w *workshop) want(output string, command ...string) {
	w.t.Helper()
	if got := w.ok(command...); strings.TrimSpace(got) != output {
		w.t.Errorf("%q wrote %q; want %q", command, got, output)
	}
}

func (w *workshop) path(name string) string { return filepath.Join(w.dir, name) }

// put writes a file from the host.
func (w *workshop) put(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// bring copies a file of testdata/tools into the workspace.
func (w *workshop) bring(names ...string) {
	w.t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata/tools", name))
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(name, string(text))
	}
}

// get reads a file from the host.
func (w *workshop) get(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}
