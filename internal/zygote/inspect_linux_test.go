package zygote

import (
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// walled is /proc/PID/status of a worker with all its walls.
const walled = "Name:\tpython3\nUid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n" +
	"NSpid:\t4711\t12\t1\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n" +
	"CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"

// A worker that lacks one wall is refused, whatever it reports.
func TestVerifyRefusesWorkerWithoutWalls(t *testing.T) {
	plan := confine.Plan{UID: 65534, GID: 65534, Namespaces: confine.CloneNewPID, Capabilities: true, NoNewPrivs: true, Seccomp: confine.SeccompNotify}
	z := &Zygote{config: Config{Plan: plan}, expect: expectations(plan)}
	if err := z.expects(status(walled)); err != nil {
		t.Errorf("a worker with all walls: %v", err)
	}
	for name, change := range map[string][2]string{
		"real uid":                 {"Uid:\t65534", "Uid:\t0"},
		"saved uid":                {"65534\nGid", "0\nGid"},
		"gid":                      {"Gid:\t65534", "Gid:\t0"},
		"inheritable capabilities": {"CapInh:\t0000000000000000", "CapInh:\t0000000000200000"},
		"permitted capabilities":   {"CapPrm:\t0000000000000000", "CapPrm:\t0000000000200000"},
		"effective capabilities":   {"CapEff:\t0000000000000000", "CapEff:\t0000000000200000"},
		"ambient capabilities":     {"CapAmb:\t0000000000000000", "CapAmb:\t0000000000200000"},
		"no new privileges":        {"NoNewPrivs:\t1", "NoNewPrivs:\t0"},
		"seccomp":                  {"Seccomp:\t2", "Seccomp:\t0"},
		"strict seccomp":           {"Seccomp:\t2", "Seccomp:\t1"},
		"no pid namespace":         {"\t4711\t12\t1\n", "\t4711\n"},
		"the server's namespace":   {"\t4711\t12\t1\n", "\t4711\t12\n"},
		"not alone in its own":     {"\t4711\t12\t1\n", "\t4711\t12\t2\n"},
		"no line at all":           {"Seccomp:\t2\n", ""},
	} {
		text := strings.Replace(walled, change[0], change[1], 1)
		if text == walled {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := z.expects(status(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// verify asks the kernel: this process is not a worker.
func TestVerifyReadsTheKernelsView(t *testing.T) {
	own := confine.Plan{UID: os.Getuid(), GID: os.Getgid()}
	other := confine.Plan{UID: own.UID + 1, GID: own.GID}
	for _, test := range []struct {
		plan confine.Plan
		ok   bool
	}{{own, true}, {other, false}} {
		w := &Worker{PID: os.Getpid(), zygote: &Zygote{config: Config{Plan: test.plan}, expect: expectations(test.plan)}}
		if err := w.verify(); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test.plan, err)
		}
		w.status.close()
	}
}
