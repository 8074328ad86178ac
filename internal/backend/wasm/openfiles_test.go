package wasm

import (
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Files of the library count too, against the limit of the request. After closing some, as
// many can be opened again.
func TestOpenFilesOfTheLibrary(t *testing.T) {
	const limit = 16
	b := pythonBench(t, Options{Idle: 1})
	r := b.script(run.Request{
		Limits: policy.Limits{OpenFiles: limit},
		Script: run.Script{Source: `
def all_there_are():
    kept = []
    try:
        while len(kept) < 1000:
            kept.append(open("/lib/python311.zip", "rb"))
    except OSError:
        return len(kept)

result = [all_there_are(), all_there_are()]
import colorsys`},
	})
	expect(t, r, run.Succeeded, "")
	// In addition to the standard streams.
	if want := "[13,13]"; string(r.Value) != want {
		t.Errorf("%s files could be opened, want %s", r.Value, want)
	}
}
