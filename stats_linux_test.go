package cordon_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestStatsCountIdleSandboxes(t *testing.T) {
	r := newRunner(t, cordon.Options{Idle: 2})
	if s := r.Stats(); s[policy.TierProcess].Setups.Count == 0 {
		t.Errorf("a fork server was started, and %+v says nothing of it", s)
	}
	if _, there := r.Stats()[policy.TierJail]; there {
		t.Error("there are statistics of the jail tier, which was not used")
	}
	for range 2 { // the first one does not wait for the fork server
		mustRun(t, r, run.Request{Script: run.Script{Source: "result = 1"}})
	}
	s := r.Stats()[policy.TierProcess]
	if s.Forks.Count == 0 || s.Forks.Sum <= 0 {
		t.Errorf("a worker was forked, and %+v says nothing of it", s)
	}
	if s.Busy != 0 || s.Idle > 4 {
		t.Errorf("%d workers have a guest and %d wait, when nothing is under way", s.Busy, s.Idle)
	}
	mustRun(t, r, run.Request{Command: run.Command{Args: []string{"/bin/true"}}})
	if s := r.Stats()[policy.TierJail]; s.Setups.Count == 0 {
		t.Errorf("a jail was built, and %+v says nothing of it", s)
	}
}

func TestStatsCountARunningGuest(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	started := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		_, err := r.Run(ctx, run.Request{Script: run.Script{Source: "print('here', flush=True)\nimport time\ntime.sleep(60)"}, Streams: run.Streams{
			Out: writerFunc(func(p []byte) (int, error) { close(started); return len(p), nil }),
		}})
		if err != nil {
			t.Error(err)
		}
	})
	<-started
	if s := r.Stats()[policy.TierProcess]; s.Busy != 1 {
		t.Errorf("%d workers have a guest, not 1", s.Busy)
	}
	cancel()
	running.Wait()
	if s := r.Stats()[policy.TierProcess]; s.Busy != 0 {
		t.Errorf("%d workers have a guest after it ended", s.Busy)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestRunsAndCallsReportTheirStages(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	hook, err := r.OpenHook(t.Context(), run.HookSpec{Script: "result['output'] = 1"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := hook.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, do := range map[string]func(context.Context) error{
		"a run": func(ctx context.Context) error {
			_, err := r.Run(ctx, run.Request{Script: run.Script{Source: "result = 1"}})
			return err
		},
		"a call": func(ctx context.Context) error {
			_, err := hook.Call(ctx, nil, nil)
			return err
		},
	} {
		var reported stages
		if err := do(observe.WithTracer(t.Context(), &reported)); err != nil {
			t.Fatal(err)
		}
		want := []string{"begin queue", "end queue", "begin lease", "end lease", "begin guest", "end guest"}
		if !slices.Equal(reported, want) {
			t.Errorf("%s reported %q, not %q", name, reported, want)
		}
	}
}

type stages []string

func (s *stages) Begin(ctx context.Context, stage observe.Stage) (context.Context, func(error)) {
	*s = append(*s, "begin "+string(stage))
	return ctx, func(error) { *s = append(*s, "end "+string(stage)) }
}

func TestStatsCountForksOfAnInterpreterImage(t *testing.T) {
	r := newRunner(t, cordon.Options{Policy: withBundledPython(t, policy.Policy{}), Tier: policy.TierWasm})
	mustRun(t, r, run.Request{Script: run.Script{Source: "result = 1"}, Tier: policy.TierWasm})
	s := r.Stats()[policy.TierWasm]
	if s.Setups.Count == 0 || s.Forks.Count == 0 || s.Busy != 0 {
		t.Errorf("an interpreter was started and copied, and the statistics are %+v", s)
	}
}
