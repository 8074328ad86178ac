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
	"github.com/cordon-sandbox/cordon/run"
)

// There is no weaker jail: where namespaces are forbidden, opening the backend is refused with
// the remedy, and so is a single command.
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
	b, err := New(Options{})
	refused(err)
	if err == nil {
		t.Error(b.Close())
	}
	if b, err = New(Options{OneShot: true}); err != nil {
		t.Fatal(err)
	}
	_, err = attemptOnce(t.Context(), b, backend.Job{Request: run.Request{Command: run.Command{Args: []string{"true"}}}, Limits: b.options.Policy.Limits})
	refused(err)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// On a host that allows no listener, denials are not observed.
func TestWithoutListener(t *testing.T) {
	f, possible := confine.Narrower(hostfeature.Quick(), &confine.SetupError{Step: "seccomp", Cause: "EBUSY", Errno: unix.EBUSY})
	if !possible || f.SeccompNotify.OK || !f.Seccomp.OK {
		t.Fatalf("%+v", f)
	}
	b := &Backend{options: Options{}.resolved(), features: f, init: -1}
	if err := b.makePlan(); err != nil {
		t.Fatal(err)
	}
	if b.plan.Seccomp != confine.SeccompErrno || b.Enforcement().ViolationsObserved {
		t.Errorf("%+v", b.plan)
	}
}
