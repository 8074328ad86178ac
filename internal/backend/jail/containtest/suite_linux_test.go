package containtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/attack"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// attempt tries to break one wall from inside a command. It is either an act of this test
// binary, which is mounted into the sandbox, or a shell script, so that no compiler is needed.
type attempt struct {
	wall, name string
	// act is a name in acts; sh is a shell script. Both print ESCAPED or HELD at the end.
	act, sh string
	// params are passed to the attempt, in addition to the locations of the canaries.
	params map[string]any
	// plant creates what the attempt needs in its scene.
	plant func(t *testing.T, s *scene)
	// touched inspects the host afterwards; a non-empty result describes an escape.
	touched func(t *testing.T, s *scene, r run.Result) string
	// canary says that the host's canaries show whether it escaped.
	canary bool
	// want is the correct outcome if the attempt cannot report its result.
	want run.Outcome
	// bwrap is how the attempt ends under bubblewrap, if that differs. It must not succeed
	// there either.
	bwrap ending
	// open says why the attempt may succeed under bubblewrap. Even then it must not leak a
	// secret or touch anything.
	open string
	// root says that only root can plant it, or that it makes no sense for other users.
	root bool
	// mask lists walls that are removed because they would hide the tested one.
	mask []policy.Wall
	// proof shows that the attempt can succeed.
	proof proof
}

// proof is a setting in which the attempt must escape. Without a proof, an attempt that never
// works would look like a wall that holds.
type proof struct {
	// naked runs it as a plain process of the host.
	naked bool
	// root says that it works only for root, even naked.
	root bool
	// uid is the user that root runs it as; 0 means root.
	uid int
	// without runs it in a sandbox that lacks these walls.
	without []policy.Wall
	// relaxed changes the scene of its sandbox.
	relaxed func(s *scene)
	// ends is how the attempt ends if nothing stops it and it cannot report its result.
	ends ending
	// skipReason says why the proof may fail on this host, because the kernel lacks
	// something. The test is then skipped.
	skipReason string
	// none says why there is no proof.
	none string
}

// ending is an outcome and its exit code.
type ending struct {
	outcome run.Outcome
	code    int
}

func (e ending) is(r run.Result) bool {
	return e.outcome == r.Outcome && r.ExitCode != nil && *r.ExitCode == e.code
}

var (
	naked     = proof{naked: true}
	nakedRoot = proof{naked: true, root: true}
)

func withoutWalls(walls ...policy.Wall) proof { return proof{without: walls} }

// scene is the test environment of one attempt.
type scene struct {
	suite     *suite
	canaries  *attack.Canaries
	directory string // of this scene, not visible inside
	workspace string
	params    map[string]any
	policy    policy.Policy
	request   run.Request
	naked     bool // the attempt runs without a jail
	changed   bool // the policy is not the suite's
	without   []policy.Wall
	secret    string         // planted only for this attempt, and not passed to it
	before    string         // the state of the target before the attempt
	process   *canaryProcess // a process of the host
}

// suite is shared by all attempts of one backend. One Backend runs them all, so that an attempt
// can find what an earlier one left in it.
type suite struct {
	jail    policy.JailBackend
	policy  policy.Policy
	backend *jail.Backend
	// guarded must not be reached; bait is for the proofs, which do reach it.
	guarded, bait *attack.Canaries
	directory     string
	program       string // the copy of this binary that makes the attempts
}

const attemptTime = 20 * time.Second

func newSuite(t *testing.T, jail policy.JailBackend) *suite {
	t.Helper()
	raiseOwnLimits(t)
	s := &suite{jail: jail, directory: shortDirectory(t)}
	s.program = filepath.Join(s.directory, "attempt")
	copyProgram(t, s.program)
	for name, canaries := range map[string]**attack.Canaries{"g": &s.guarded, "b": &s.bait} {
		planted, err := attack.Plant(filepath.Join(s.directory, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(planted.Close)
		*canaries = planted
	}
	p, err := policy.Preset("command")
	if err != nil {
		t.Fatal(err)
	}
	p.AllowInterpreters, p.Read = true, []string{s.program}
	if jail != gvisor {
		p.Jail = jail
	}
	s.policy = p
	s.backend = s.open(t, p, nil)
	// Limits are less exact without cgroups; the test must not mistake that for cgroups.
	if os.Geteuid() == 0 && !(usesCgroups(s.backend) && cgroup.Probe().CountsProcesses()) && hosttest.Promised() {
		t.Fatalf("there are no cgroups: %+v", cgroup.Probe())
	}
	return s
}

// open starts a backend that ends with the test.
func (s *suite) open(t *testing.T, p policy.Policy, without []policy.Wall) *jail.Backend {
	t.Helper()
	b, err := jail.New(s.options(t, p, without))
	if err != nil {
		requireBackend(t, s.jail, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func (s *suite) options(t *testing.T, p policy.Policy, without []policy.Wall) jail.Options {
	options := jail.Options{Policy: p, Without: without, LandlockABI: landlockABI()}
	if s.gvisor() {
		options.Runsc = runsc(t)
	}
	return options
}

// usesCgroups reports whether commands of the backend are in cgroups.
func usesCgroups(b *jail.Backend) bool {
	return b.Enforcement().Walls[policy.WallCgroup].Enforced()
}

// requireBackend skips the test if the host lacks the backend, or fails it if
// CORDON_REQUIRE_HOST promises one.
func requireBackend(t *testing.T, jail policy.JailBackend, err error) {
	t.Helper()
	if run.ClassOf(err) == run.Unsupported {
		hosttest.Lacks(t, "%s: %v", jail, err)
	}
	t.Fatalf("%s: %v", jail, err)
}

func (s *suite) scene(t *testing.T, a attempt, canaries *attack.Canaries) *scene {
	t.Helper()
	directory, err := os.MkdirTemp(s.directory, "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, directory) })
	c := &scene{
		suite: s, canaries: canaries, directory: directory, workspace: filepath.Join(directory, "ws"),
		params: canaries.Context(), policy: s.policy,
	}
	for _, dir := range []string{directory, c.workspace} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	delete(c.params, "shout")
	c.secret = "cordon-secret-" + rand.Text()
	maps.Copy(c.params, a.params)
	c.params["directory"], c.params["workspace"], c.params["temporary"] = c.directory, c.workspace, os.TempDir()
	c.request = run.Request{Command: run.Command{Workspace: c.workspace}, Limits: policy.Limits{WallTime: attemptTime}}
	return c
}

// grant changes the policy of this scene.
func (s *scene) grant(change func(*policy.Policy)) {
	s.changed = true
	s.policy.Read, s.policy.Write = slices.Clone(s.policy.Read), slices.Clone(s.policy.Write)
	change(&s.policy)
}

// run makes the attempt in a sandbox.
func (s *scene) run(t *testing.T, a attempt) run.Result {
	t.Helper()
	r, err := s.try(t, a)
	if err != nil {
		t.Fatalf("%s/%s: %v", a.wall, a.name, err)
	}
	return r
}

func (s *scene) try(t *testing.T, a attempt) (run.Result, error) {
	t.Helper()
	b := s.suite.backend
	if s.changed || s.without != nil {
		b = s.suite.open(t, s.policy, s.without)
	}
	req := s.request
	req.Command.Args, req.Command.Env = s.command(a)
	return runIn(t.Context(), b, s.policy, req)
}

// command returns the command line and the environment of an attempt. Parameters are passed in
// the environment: a path in an argument would be refused before the walls are tested.
func (s *scene) command(a attempt) ([]string, map[string]string) {
	env := map[string]string{paramsVariable: encode(s.params)}
	maps.Copy(env, s.request.Command.Env)
	if a.sh != "" {
		env["attempt"] = shellPrelude + a.sh
		for key, value := range s.params {
			if text, ok := value.(string); ok {
				env[key] = text
			}
		}
		return []string{"/bin/sh", "-c", `eval "$attempt"`}, env
	}
	env[actVariable] = a.act
	return []string{s.suite.program}, env
}

// shellPrelude defines functions that print the result, and one for commands that must fail.
const shellPrelude = `
escaped() { echo "ESCAPED $*"; exit 0; }
held() { echo "HELD $*"; exit 0; }
must_fail() { if "$@"; then escaped "$@"; fi; }
if [ "$pid" = ` + parentProcess + ` ]; then pid=$PPID; fi
`

// runIn runs a request in a backend, as a Runner does.
func runIn(ctx context.Context, b *jail.Backend, p policy.Policy, req run.Request) (run.Result, error) {
	limits, err := p.Narrow(req.Limits)
	if err != nil {
		return run.Result{}, err
	}
	job := backend.Job{Request: req, Limits: limits, OnOutputLimit: policy.OutputKill}
	if req.OnOutputLimit != "" {
		job.OnOutputLimit = req.OnOutputLimit
	}
	return backend.UntilStarted(ctx, func() (run.Result, error) {
		s, err := b.Open(ctx, job)
		if err != nil {
			return run.Result{}, err
		}
		defer s.Close()
		return s.Run(ctx, job)
	})
}

// verdict returns the evidence that the attempt escaped; empty means that it did not.
func (s *scene) verdict(t *testing.T, a attempt, r run.Result) (escaped string) {
	t.Helper()
	var seen []string
	if spotted := s.canaries.Spot(r); len(spotted) > 0 {
		seen = append(seen, spotted...)
	}
	if strings.Contains(r.Stdout+r.Stderr, s.secret) {
		seen = append(seen, "its secret is in the output")
	}
	if a.touched != nil && !(s.suite.excuses(a) && ofItsKernel[a.wall+"/"+a.name] == noForeign) { // these look at the signal
		if word := a.touched(t, s, r); word != "" {
			seen = append(seen, word)
		}
	}
	for line := range strings.Lines(r.Stdout) {
		if strings.HasPrefix(line, "ESCAPED") && !(a.open != "" && s.byBubblewrap()) && !(s.shared() && visible[a.wall+"/"+a.name] != "") && !s.suite.excuses(a) {
			seen = append(seen, strings.TrimSpace(line))
		}
	}
	return strings.Join(seen, "; ")
}

func (s *suite) gvisor() bool { return s.jail == gvisor }

// excuses reports whether an attempt ends in another way here. See ofItsKernel.
func (s *suite) excuses(a attempt) bool { return s.gvisor() && ofItsKernel[a.wall+"/"+a.name] != "" }

func (s *scene) byBubblewrap() bool { return s.suite.jail == policy.JailBwrap }

func (s *scene) shared() bool { return s.suite.jail == policy.JailLandlock }

// plantCanaries gives a proof its own canaries: all other attempts share those of the suite.
func (s *scene) plantCanaries(t *testing.T) {
	t.Helper()
	planted, err := attack.Plant(filepath.Join(s.directory, "c"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(planted.Close)
	s.canaries = planted
	maps.Copy(s.params, planted.Context())
}

// broken reports whether the program could not make the attempt. Such a result proves nothing,
// in a sandbox or without one.
func (a attempt) broken(r run.Result) bool {
	return a.act != "" && r.ExitCode != nil && *r.ExitCode == brokenCode
}

// finished returns why a result does not come from a completed attempt, or "".
func (s *scene) finished(a attempt, r run.Result) string {
	switch {
	case a.broken(r):
		return "it could not be made"
	case s.byBubblewrap() && a.bwrap != ending{}:
		if !a.bwrap.is(r) {
			return fmt.Sprintf("it does not end as %+v", a.bwrap)
		}
		return ""
	case a.want != "":
		if r.Outcome != a.want {
			return "the outcome is " + string(r.Outcome) + ", not " + string(a.want)
		}
		return ""
	}
	if r.Outcome != run.Succeeded {
		return "it did not finish"
	}
	for line := range strings.Lines(r.Stdout) {
		if strings.HasPrefix(line, "HELD") || strings.HasPrefix(line, "ESCAPED") {
			return ""
		}
	}
	return "it printed neither HELD nor ESCAPED"
}

func (a attempt) try(t *testing.T, suite *suite) {
	if a.root && os.Geteuid() != 0 {
		t.Skip("only root can make this attempt")
	}
	s := suite.scene(t, a, suite.guarded)
	if a.plant != nil {
		a.plant(t, s)
	}
	if s.changed {
		s.without = a.mask // needs a separate backend
	}
	if s.shared() && refused[a.wall+"/"+a.name] {
		s.mustBeRefused(t, a)
		return
	}
	r := s.run(t, a)
	why := s.finished(a, r)
	if excuse := suite.excuses(a); why != "" && !excuse {
		t.Errorf("the attempt is broken: %s\n%s", why, show(r))
	} else if excuse && why == "" && !strings.Contains(r.Stdout, "ESCAPED") {
		t.Errorf("it ends as everywhere, and needs no exception\n%s", show(r))
	}
	if escaped := s.verdict(t, a, r); escaped != "" {
		t.Errorf("the wall does not hold: %s\n%s", escaped, show(r))
	}
	t.Logf("%s %s", r.Outcome, strings.TrimSpace(truncate(r.Stdout)))
}

// prove makes the attempt in a setting where it must succeed.
func (a attempt) prove(t *testing.T, suite *suite) {
	p := a.proof
	switch {
	case p.none != "":
		t.Skip(p.none)
	case (a.root || p.root) && os.Geteuid() != 0:
		t.Skip("only root can prove it")
	}
	s := suite.scene(t, a, suite.bait)
	s.naked, s.without = p.naked, p.without
	if a.canary {
		s.plantCanaries(t)
	}
	if a.plant != nil {
		a.plant(t, s)
	}
	var r run.Result
	switch {
	case p.naked:
		r = s.runNaked(t, a)
	case p.relaxed != nil:
		p.relaxed(s)
		r = s.run(t, a)
	case p.without != nil:
		r = s.run(t, a)
	default:
		t.Fatal("the attempt has no proof")
	}
	escaped := s.verdict(t, a, r)
	if a.canary {
		escaped += strings.Join(s.canaries.Check(), "; ")
	}
	if escaped == "" && p.ends.is(r) {
		escaped = fmt.Sprintf("it ended as %+v", p.ends)
	}
	if a.broken(r) {
		t.Fatalf("the attempt is broken\n%s", show(r))
	}
	if escaped == "" && p.skipReason != "" {
		t.Skipf("%s\n%s", p.skipReason, show(r))
	}
	if escaped == "" {
		t.Errorf("the attempt also fails without the wall, so it proves nothing\n%s", show(r))
	}
	t.Log(escaped)
}

// attempts returns all attempts, wall by wall.
func attempts() []attempt {
	return slices.Concat(
		fileAttempts(), procFileAttempts(), keyAttempts(), readOnlyAttempts(), ownerAttempts(), deviceAttempts(),
		processAttempts(), initAttempts(), rlimitAttempts(),
		systemCallAttempts(), socketAttempts(), foreignAttempts(), terminalAttempts(),
		networkAttempts(), ipcAttempts(), cgroupAttempts(),
	)
}

// TestContainment makes all attempts on each backend; none may escape.
func TestContainment(t *testing.T) {
	eachBackend(t, containmentOf)
}

func containmentOf(t *testing.T, suite *suite) {
	t.Run("attempts", func(t *testing.T) {
		for _, a := range attempts() {
			t.Run(a.wall+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				a.try(t, suite)
			})
		}
	})
	if touched := suite.guarded.Check(); len(touched) > 0 {
		t.Errorf("canaries were touched: %v", touched)
	}
}

// TestContainmentByMountsAlone makes the attempts without Landlock, which covers the same paths
// as the mounts: kernels may lack it, and one wall must not hide a hole in the other.
func TestContainmentByMountsAlone(t *testing.T) {
	suite := newSuite(t, policy.JailNative)
	suite.backend = suite.open(t, suite.policy, []policy.Wall{policy.WallLandlock})
	for _, a := range slices.Concat(fileAttempts(), procFileAttempts(), keyAttempts(), readOnlyAttempts(), deviceAttempts()) {
		t.Run(a.wall+"/"+a.name, func(t *testing.T) {
			t.Parallel()
			a.mask = []policy.Wall{policy.WallLandlock}
			a.try(t, suite)
		})
	}
	t.Cleanup(func() {
		if touched := suite.guarded.Check(); len(touched) > 0 {
			t.Errorf("canaries were touched: %v", touched)
		}
	})
}

// TestContainmentAttemptsCanSucceed makes each attempt where it must escape: an attempt that
// never works proves nothing.
func TestContainmentAttemptsCanSucceed(t *testing.T) {
	suite := newSuite(t, policy.JailNative)
	for _, a := range attempts() {
		t.Run(a.wall+"/"+a.name, func(t *testing.T) {
			t.Parallel()
			a.prove(t, suite)
		})
	}
}

// TestContainmentIsWide checks that the attempts have unique names and existing acts, and that
// there are at least 80.
func TestContainmentIsWide(t *testing.T) {
	seen, walls := map[string]bool{}, map[string]int{}
	for _, a := range attempts() {
		if name := a.wall + "/" + a.name; seen[name] {
			t.Errorf("two attempts are called %s", name)
		} else {
			seen[name] = true
		}
		if a.act != "" && acts[a.act] == nil {
			t.Errorf("%s/%s: the act %s does not exist", a.wall, a.name, a.act)
		}
		walls[a.wall]++
	}
	t.Log(len(seen), walls)
	if len(seen) < 80 {
		t.Errorf("only %d attempts", len(seen))
	}
}
