package main

import (
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/run"
)

// Every quantity can be measured. A smoke test has no verdicts.
func TestGrowthQuick(t *testing.T) {
	missed, err := runBench(t.Context(), options{growth: true, quick: true})
	if run.ClassOf(err) == run.Unsupported {
		hosttest.Lacks(t, "%v", err)
	}
	if missed || err != nil {
		t.Errorf("missed: %v, error: %v", missed, err)
	}
}
