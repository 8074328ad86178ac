package process

import (
	"os"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

func opener(t *testing.T, p policy.Policy) backend.Backend {
	return open(t, Options{Policy: p, Idle: 4})
}

func TestContract(t *testing.T)    { backendtest.Contract(t, opener, policy.Policy{}) }
func TestContainment(t *testing.T) { backendtest.Containment(t, opener, policy.Policy{}) }

// The same in an unprivileged container, as a user and as root.
func TestContainmentInDegradedHost(t *testing.T) {
	if hosttest.Degraded() {
		backendtest.Containment(t, opener, systemPython)
		return
	}
	uids := []int{os.Geteuid()}
	if os.Geteuid() == 0 {
		uids = append(uids, anyUser)
	}
	for _, uid := range uids {
		hosttest.RunDegraded(t, "TestContainmentInDegradedHost", uid)
	}
}
