package process

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// muslPython is a CPython whose C library is musl, as on Alpine: it makes other system calls,
// starts threads in another way and has another loader.
func muslPython(t *testing.T) policy.Policy {
	t.Helper()
	hosttest.NotUnderRace(t, "it tests a guest, which the detector does not see")
	return policy.Policy{Python: hosttest.NeedsExtra(t, hosttest.PythonMusl)}
}

func TestContractOnMusl(t *testing.T)    { backendtest.Contract(t, opener, muslPython(t)) }
func TestContainmentOnMusl(t *testing.T) { backendtest.Containment(t, opener, muslPython(t)) }

// Of the host's libraries, a guest on musl sees only those of musl.
func TestLibrariesOfMusl(t *testing.T) {
	b := open(t, Options{Policy: muslPython(t)})
	requireHost(t, b, policy.WallMount)
	r := runJob(t, b, jobOf(b, "import glob\nresult = sorted(glob.glob('/lib/*') + glob.glob('/usr/lib/*/libc.so*'))", nil))
	if got := string(r.Value); !strings.Contains(got, "ld-musl") || strings.Contains(got, "libc.so.6") || strings.Contains(got, "systemd") {
		t.Errorf("%s: %s", r.Error, got)
	}
}
