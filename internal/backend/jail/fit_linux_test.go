package jail

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Where namespaces are forbidden, commands run without them, unless the policy wants them: then
// opening the backend is refused with the remedy, and so is a single command.
func TestDegradedHost(t *testing.T) {
	if hosttest.Degraded() {
		t.Skip("this is the inside")
	}
	hosttest.RunDegraded(t, "TestInsideDegradedHost", os.Geteuid())
}

func TestInsideDegradedHost(t *testing.T) {
	if !hosttest.Degraded() {
		t.Skip("run by TestDegradedHost")
	}
	refused := func(err error) {
		t.Helper()
		if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "namespaces cannot be set up here") || !strings.Contains(err.Error(), "seccomp profile") {
			t.Errorf("%v", err)
		}
	}
	execute := func(p policy.Policy, oneShot bool) (run.Result, error) {
		b, err := New(Options{Policy: p, OneShot: oneShot})
		if err != nil {
			return run.Result{}, err
		}
		defer func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}()
		command := run.Command{Args: []string{"/bin/sh", "-c", "echo hello >$TMPDIR/x; cat $TMPDIR/x; pwd"}}
		return attemptOnce(t.Context(), b, backend.Job{Request: run.Request{Command: command}, Limits: b.options.Policy.Limits})
	}
	for _, oneShot := range []bool{false, true} {
		r, err := execute(policy.Policy{AllowInterpreters: true}, oneShot)
		if err != nil || !r.OK() || !strings.HasPrefix(r.Stdout, "hello\n/") || r.Enforcement.Jail != policy.JailLandlock {
			t.Errorf("%v %+v", err, r)
		}
		for _, wall := range []policy.Wall{policy.WallUser, policy.WallMount, policy.WallPID, policy.WallNet} {
			if r.Enforcement.Walls[wall].Enforced() {
				t.Errorf("the Result has the wall %s", wall)
			}
		}
		if s := r.Enforcement.Walls[policy.WallLandlock]; !s.Enforced() || !strings.Contains(s.Detail, sharedView) {
			t.Errorf("landlock: %s", s)
		}
		_, err = execute(policy.Policy{AllowInterpreters: true, Jail: policy.JailNative}, oneShot)
		refused(err)
		_, err = execute(policy.Policy{AllowInterpreters: true, Require: []policy.Wall{policy.WallPID}}, oneShot)
		refused(err)
	}
}

// On a host that allows no listener, denials are not observed.
func TestWithoutListener(t *testing.T) {
	f, possible := confine.Narrower(hostfeature.Quick(), &confine.SetupError{Step: "seccomp", Cause: "EBUSY", Errno: unix.EBUSY})
	if !possible || f.SeccompNotify.OK || !f.Seccomp.OK {
		t.Fatalf("%+v", f)
	}
	b := &Backend{options: Options{}.resolved(), jail: policy.JailNative, features: f, init: -1}
	if err := b.makePlan(); err != nil {
		t.Fatal(err)
	}
	if b.plan.Seccomp != confine.SeccompErrno || b.Enforcement().ViolationsObserved {
		t.Errorf("%+v", b.plan)
	}
}
