package compat_test

import (
	_ "embed"
	"maps"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

//go:embed testdata/cpython_gvisor.txt
var cpythonGVisorList string

// TestGVisorCPythonSuite runs CPython's own tests on gVisor's kernel. Tests that cannot pass in
// the sandbox of scripts may fail here, too.
func TestGVisorCPythonSuite(t *testing.T) {
	hosttest.Slow(t, "the same tests run behind the other walls")
	t.Setenv("CORDON_RUNSC", hosttest.NeedsExtra(t, hosttest.Runsc))
	modules, err := parseSuite(cpythonList)
	if err != nil {
		t.Fatal(err)
	}
	own, err := parseSuite(cpythonGVisorList)
	if err != nil {
		t.Fatal(err)
	}
	exceptions := map[string]suiteModule{}
	for _, m := range own {
		exceptions[m.name] = m
	}
	p := suitePython(t)
	limits := policy.Limits{
		WallTime: 5 * time.Minute, CPUTime: 5 * time.Minute,
		Memory: 1 * policy.GiB, Output: 256 * policy.KiB, Scratch: 64 * policy.MiB, OpenFiles: 512, Threads: 128,
	}
	r := tierRunner{startRunner(t, cordon.Options{
		Policy: policy.Policy{Python: p.Found, Limits: limits, Maxima: limits, Preload: []string{}},
		Tier:   policy.TierGVisor, Concurrent: 2, // each uses a full CPU
	}), policy.TierGVisor}
	for _, m := range modules {
		exception, listed := exceptions[m.name]
		delete(exceptions, m.name)
		if !m.short && !hosttest.Long() || listed && exception.long && !hosttest.Long() {
			continue
		}
		maps.Copy(m.fails, exception.fails)
		m.leftOut = append(m.leftOut, exception.leftOut...)
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			differences := m.run(t, r, "")
			for _, d := range differences {
				if p.minor() == listedMinor {
					t.Error(d)
				} else {
					t.Logf("the list is for 3.%d, so this is no failure: %s", listedMinor, d)
				}
			}
		})
	}
	for name := range exceptions {
		t.Errorf("testdata/cpython_gvisor.txt lists %s, which testdata/cpython.txt does not", name)
	}
}
