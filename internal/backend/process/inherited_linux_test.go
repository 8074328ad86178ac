package process

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

// A guest inherits the same from a fork server as from a single run: no variable and no
// blocked signal of the fork server's, and no open descriptor.
func TestGuestInheritsNothingOfTheForkServer(t *testing.T) {
	const script = `
import os, signal
descriptors = []
for fd in range(4096):
    try:
        os.fstat(fd)
    except OSError:
        continue
    descriptors.append(fd)
result = [dict(os.environ), [str(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])], str(signal.getsignal(signal.SIGCHLD)), descriptors]
`
	warm, single := open(t, Options{Policy: systemPython}), open(t, Options{Policy: systemPython, OneShot: true})
	requireHost(t, warm, policy.WallEnvironment)
	got, want := runJob(t, warm, jobOf(warm, script, nil)), runJob(t, single, jobOf(single, script, nil))
	if len(want.Value) == 0 || string(got.Value) != string(want.Value) {
		t.Errorf("from a fork server: %s %s\nin a single run: %s %s", got.Value, got.Error, want.Value, want.Error)
	}
}
