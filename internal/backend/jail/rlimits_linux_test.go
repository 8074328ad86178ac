package jail

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/policy"
)

// On hosts where the Runner's own limits cannot be raised, only this test shows a guest's.
func TestRlimits(t *testing.T) {
	b := &Backend{plan: confine.Plan{Rlimits: true}}
	got := map[int]uint64{}
	for _, l := range b.rlimits(policy.Limits{OpenFiles: 77}, nil) {
		got[l.Resource] = l.Value
	}
	for name, want := range map[string]confine.Limit{
		"open files":         {Resource: unix.RLIMIT_NOFILE, Value: 77},
		"core files":         {Resource: unix.RLIMIT_CORE},
		"real-time priority": {Resource: unix.RLIMIT_RTPRIO},
		"nice":               {Resource: unix.RLIMIT_NICE},
		"POSIX queues":       {Resource: unix.RLIMIT_MSGQUEUE},
		"locked memory":      {Resource: unix.RLIMIT_MEMLOCK, Value: 64 << 10},
		"signals and timers": {Resource: unix.RLIMIT_SIGPENDING, Value: 1024},
	} {
		if value, limited := got[want.Resource]; !limited || value != want.Value {
			t.Errorf("%s: %d, limited: %v, want %d", name, value, limited, want.Value)
		}
	}
}
