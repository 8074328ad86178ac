package compat_test

import (
	"archive/zip"
	_ "embed"
	"os"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

//go:embed testdata/cpython_wasm.txt
var cpythonWasmList string

// TestWasmCPythonSuite runs CPython's own tests on copies of a started interpreter, to find what
// copying breaks.
func TestWasmCPythonSuite(t *testing.T) {
	modules, err := parseSuite(cpythonWasmList)
	if err != nil {
		t.Fatal(err)
	}
	p, suite := wasmPython(t), unpackArchive(t, hosttest.NeedsExtra(t, hosttest.PythonWasmTests))
	limits := policy.Limits{
		WallTime: 5 * time.Minute, CPUTime: 2 * time.Minute,
		Memory: 1 * policy.GiB, Output: 256 * policy.KiB, Scratch: 64 * policy.MiB, OpenFiles: 512,
	}
	options := cordon.Options{
		Policy: p.policy(policy.Policy{Limits: limits, Maxima: limits, Read: []string{suite}}),
		Tier:   p.tier, Idle: 2, Concurrent: 2, // each uses a full CPU
	}
	r := tierRunner{startRunner(t, options), p.tier}
	for _, m := range modules {
		if testing.Short() && !m.short || m.long && !hosttest.Long() {
			continue
		}
		m.strict = true // the list is only for this interpreter
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, d := range m.run(t, r, suite) {
				t.Error(d)
			}
		})
	}
}

// unpackArchive returns a directory with the contents of a zip archive. It is not below /tmp,
// which cannot be granted.
func unpackArchive(t *testing.T, archive string) string {
	t.Helper()
	directory, err := os.MkdirTemp("/var/tmp", "cordon-suite-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(directory, z); err != nil {
		t.Fatal(err)
	}
	return directory
}
