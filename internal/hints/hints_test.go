package hints

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// Each code has words for each reader, and no reader gets advice that only another can
// follow.
func TestEveryCodeHasWordsForEveryReader(t *testing.T) {
	d := Data{"path": "/data", "workspace": "/work", "available": "/tmp", "limit": "threads", "unit": "threads"}
	for _, code := range run.HintCodes() {
		v := Give(run.Violation{}, code, d)
		if v.HintCode != code || v.Hint != Word(v, Embedder) {
			t.Errorf("%s: %+v", code, v)
		}
		for reader, banned := range map[Reader][]string{Embedder: {"--", "operator"}, CommandLine: {"operator"}, Agent: {"--", "policy", "read:"}} {
			words := Word(v, reader)
			if words == "" {
				t.Errorf("%s has no words for reader %d", code, reader)
			}
			for _, b := range banned {
				if strings.Contains(words, b) {
					t.Errorf("%s for reader %d: %q has %q", code, reader, words, b)
				}
			}
		}
	}
	if len(wordings) != len(run.HintCodes()) {
		t.Errorf("%d rows for %d codes", len(wordings), len(run.HintCodes()))
	}
}

func TestWordKeepsOtherAdvice(t *testing.T) {
	if got := Word(run.Violation{Hint: "use json"}, Agent); got != "use json" {
		t.Errorf("%q", got)
	}
}
