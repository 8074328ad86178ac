package containtest

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// raisedLimits are limits of this process that would otherwise hide a missing limit of a guest:
// most hosts allow no real-time priorities and little locked memory.
var raisedLimits = map[int]uint64{
	unix.RLIMIT_CORE: unix.RLIM_INFINITY, unix.RLIMIT_MEMLOCK: unix.RLIM_INFINITY, unix.RLIMIT_MSGQUEUE: unix.RLIM_INFINITY,
	unix.RLIMIT_SIGPENDING: unix.RLIM_INFINITY, unix.RLIMIT_RTPRIO: 99, unix.RLIMIT_NICE: 40,
}

// raiseOwnLimits raises this process's hard limits as far as possible, so that a guest does not
// inherit lower ones.
func raiseOwnLimits(t *testing.T) {
	t.Helper()
	for resource, most := range raisedLimits {
		var limit unix.Rlimit
		err := unix.Prlimit(0, resource, nil, &limit)
		limit.Max = most
		if err := errors.Join(err, unix.Prlimit(0, resource, &limit, nil)); err != nil && !errors.Is(err, unix.EPERM) {
			t.Fatalf("limit %d: %v", resource, err)
		}
	}
}

// rlimitAttempts use resources that only rlimits bound, per process or per user.
func rlimitAttempts() []attempt {
	return inWall("rlimits", []attempt{
		{name: "core file", act: "leave a core", touched: coreLeft, proof: proof{naked: true, skipReason: "this host writes core files elsewhere"}},
		{name: "locked memory", act: "lock memory", proof: nakedRoot},
		{name: "queued signals", act: "queue signals", proof: proof{naked: true, skipReason: "this host has a low limit per user"}},
		// The filter denies it too, which would hide a missing limit.
		{name: "real-time class", act: "real time", mask: []policy.Wall{policy.WallSeccomp},
			plant: func(_ *testing.T, s *scene) { s.grant(func(*policy.Policy) {}) },
			proof: proof{naked: true, root: true, skipReason: "the group of this process has no real time"}},
	})
}

func coreLeft(t *testing.T, s *scene, _ run.Result) string {
	left, err := filepath.Glob(filepath.Join(s.workspace, "core*"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(left, "; ")
}

var rlimitActs = map[string]act{
	"leave a core": func(params) error {
		if err := takeAll(unix.RLIMIT_CORE); err != nil {
			return err
		}
		var ended *exec.ExitError
		if err := exec.Command("/bin/sh", "-c", "kill -SEGV $$").Run(); !errors.As(err, &ended) {
			return broken("%v", err)
		}
		return errors.New("it is looked for from outside")
	},
	"lock memory": func(params) error {
		if err := takeAll(unix.RLIMIT_MEMLOCK); err != nil {
			return err
		}
		memory, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return broken("%v", err)
		}
		return unix.Mlock(memory)
	},
	"queue signals": func(params) error {
		if err := takeAll(unix.RLIMIT_SIGPENDING); err != nil {
			return err
		}
		const many = 4096
		for n := range many {
			if err := newTimer(); err != nil {
				return fmt.Errorf("%d timers, and then %w", n, err)
			}
		}
		return nil
	},
	"raise priority": func(params) error {
		if err := takeAll(unix.RLIMIT_NICE); err != nil {
			return err
		}
		return unix.Setpriority(unix.PRIO_PROCESS, 0, -5)
	},
	"real time": func(params) error {
		if err := takeAll(unix.RLIMIT_RTPRIO); err != nil {
			return err
		}
		return requestRealTime()
	},
}

// takeAll takes as much of a resource as it can.
func takeAll(resource int) error {
	var limit unix.Rlimit
	err := unix.Prlimit(0, resource, nil, &limit)
	limit.Cur = limit.Max
	if err := errors.Join(err, unix.Prlimit(0, resource, &limit, nil)); err != nil {
		return broken("%v", err)
	}
	return nil
}
