package process

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// open starts a backend that ends with the test.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// jobOf gives a script the limits of its policy.
func jobOf(b *Backend, script string, context any) backend.Job {
	p := b.options.Policy
	return backend.Job{
		Request: run.Request{Script: run.Script{Source: script, Context: context}}, Limits: p.Limits, OnOutputLimit: p.OnOutputLimit,
	}
}

func runJob(t testing.TB, b *Backend, job backend.Job) run.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := b.Open(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// requireHost skips the test if the host lacks a wall. It fails with CORDON_REQUIRE_HOST.
func requireHost(t testing.TB, b *Backend, walls ...policy.Wall) {
	t.Helper()
	for _, w := range walls {
		if missing, gone := b.plan.Missing[w]; gone {
			hosttest.Lacks(t, "%s is missing: %s", w, missing.Reason)
		}
	}
}

func lines(data []byte) []string { return strings.Split(string(data), "\n") }
