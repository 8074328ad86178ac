package zygote

import (
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/jail"
)

// A process that has none of the walls, whatever it says of itself: this one.
func TestAWorkerWithoutWallsIsRefused(t *testing.T) {
	own := jail.Plan{UID: os.Getuid(), GID: os.Getgid()}
	ours, err := statusOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		plan  jail.Plan
		words string
	}{
		"uid":                 {jail.Plan{UID: own.UID + 1, GID: own.GID}, "Uid"},
		"gid":                 {jail.Plan{UID: own.UID, GID: own.GID + 1}, "Gid"},
		"seccomp":             {jail.Plan{UID: own.UID, GID: own.GID, Seccomp: jail.SeccompNotify}, "Seccomp"},
		"no new privileges":   {jail.Plan{UID: own.UID, GID: own.GID, NoNewPrivs: true}, "NoNewPrivs"},
		"pid namespace":       {jail.Plan{UID: own.UID, GID: own.GID, Namespaces: jail.CloneNewPID}, "NSpid"},
		"nothing is expected": {own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Worker{PID: os.Getpid(), zygote: &Zygote{config: Config{Plan: test.plan}, expect: expectations(test.plan)}}
			defer w.status.close()
			if value := ours.field(test.words); test.words == "Seccomp" && value != "0" || test.words == "NoNewPrivs" && value != "0" {
				t.Skipf("the tests themselves run with %s %s", test.words, value)
			}
			err := w.verify()
			if test.words == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.words) {
				t.Errorf("a process without it is accepted: %v", err)
			}
		})
	}
}
