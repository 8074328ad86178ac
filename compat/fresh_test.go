package compat_test

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TestRandomDiffersInEachRun checks that workers, which are forked from one process, do not share
// the state of its random generators.
func TestRandomDiffersInEachRun(t *testing.T) {
	const source = `
import multiprocessing.process, random, secrets, ssl, tempfile, uuid
result = [random.random(), secrets.token_hex(8), str(uuid.uuid4()), tempfile.mktemp(), random.SystemRandom().random(),
    str(random.getstate()[1][:8]), ssl.RAND_bytes(8).hex(), multiprocessing.process.current_process().authkey.hex()]
`
	for _, p := range pythons(t) {
		t.Run(p.name, func(t *testing.T) {
			testRandom(t, p, source, "random", "secrets", "tempfile", "uuid", "ssl", "multiprocessing.process")
		})
	}
}

// testRandom runs a script repeatedly; none of the values that it returns may repeat.
func testRandom(t *testing.T, p python, source string, preload ...string) {
	r := p.runner(t, policy.Policy{Preload: preload})
	seen := map[any]bool{}
	for range 20 {
		res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: source}})
		if err != nil {
			t.Fatal(err)
		}
		var values []any
		if err := res.Decode(&values); err != nil || len(values) < 5 {
			t.Fatalf("%v %s %s", err, res.Value, res.Error)
		}
		for _, v := range values {
			if seen[v] {
				t.Errorf("%v was drawn twice", v)
			}
			seen[v] = true
		}
	}
}
