package process

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func opener(t *testing.T, p policy.Policy) backend.Backend {
	return open(t, Options{Policy: p, Idle: 4})
}

func TestContract(t *testing.T) { backendtest.Contract(t, opener, policy.Policy{}) }
func TestNetwork(t *testing.T)  { backendtest.Network(t, opener, policy.Policy{}) }
func TestContainment(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	backendtest.Containment(t, opener, policy.Policy{})
}

// oneShots opens a new backend for every job, as the command line does.
type oneShots struct{ options Options }

func (o oneShots) Tier() policy.Tier { return policy.TierProcess }
func (o oneShots) Close() error      { return nil }

// Enforcement differs between backends.
func (o oneShots) Enforcement() run.Enforcement { return run.Enforcement{} }

func (o oneShots) Open(ctx context.Context, job backend.Job) (backend.Sandbox, error) {
	b, err := New(ctx, o.options)
	if err != nil {
		return nil, err
	}
	s, err := b.Open(ctx, job)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &oneShot{s, b}, nil
}

type oneShot struct {
	backend.Sandbox
	backend *Backend
}

func (o *oneShot) Close() error { return errors.Join(o.Sandbox.Close(), o.backend.Close()) }

func openOneShots(_ *testing.T, p policy.Policy) backend.Backend {
	p.Preload = []string{}
	return oneShots{Options{Policy: p, OneShot: true}}
}

func TestContractOfOneShots(t *testing.T) { backendtest.Contract(t, openOneShots, policy.Policy{}) }
func TestContainmentOfOneShots(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	backendtest.Containment(t, openOneShots, policy.Policy{})
}

// The same in an unprivileged container, as a user and as root.
func TestContainmentInDegradedHost(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	inDegradedHost(t, func() { backendtest.Containment(t, opener, systemPython) })
}

// As on Linux 6.1, whose Landlock covers neither truncation nor signals: the remaining
// walls must stop the same attempts.
func TestContainmentInOldDegradedHost(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	inDegradedHost(t, func() { backendtest.Containment(t, oldOpener, systemPython) })
}

// oldLandlock is that of Linux 5.19 to 6.1.
const oldLandlock = 2

func oldOpener(t *testing.T, p policy.Policy) backend.Backend {
	return open(t, Options{Policy: p, Idle: 4, LandlockABI: oldLandlock})
}

func TestContractOfOneShotsInDegradedHost(t *testing.T) {
	inDegradedHost(t, func() { backendtest.Contract(t, openOneShots, systemPython) })
}

func inDegradedHost(t *testing.T, test func()) {
	t.Helper()
	if hosttest.Degraded() {
		test()
		return
	}
	uids := []int{os.Geteuid()}
	if os.Geteuid() == 0 {
		uids = append(uids, anyUser)
	}
	for _, uid := range uids {
		hosttest.RunDegraded(t, t.Name(), uid)
	}
}
