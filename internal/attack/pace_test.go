package attack

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func TestStretch(t *testing.T) {
	most := policy.Limits{WallTime: seconds(60), CPUTime: seconds(60), Memory: policy.DefaultMaxima().Memory}
	for _, test := range []struct {
		name      string
		attempt   Attempt
		pace      Pace
		wall, cpu time.Duration
	}{
		{"as it was written", Attempt{Limits: policy.Limits{WallTime: seconds(2), CPUTime: seconds(1)}}, 1, seconds(2), seconds(1)},
		{"never less", Attempt{Limits: policy.Limits{WallTime: seconds(2), CPUTime: seconds(1)}}, 0.1, seconds(2), seconds(1)},
		{"a slow host", Attempt{Limits: policy.Limits{WallTime: seconds(2), CPUTime: seconds(1)}}, 7, seconds(14), seconds(7)},
		{"defaults are stretched, too", Attempt{}, 3, 3 * defaultWall, 3 * policy.DefaultLimits().CPUTime},
		{"the policy's maxima are kept", Attempt{}, 20, seconds(60), seconds(60)},
		{
			"it is expected to run out of time",
			Attempt{Limits: policy.Limits{WallTime: seconds(2), CPUTime: seconds(1)}, Expect: []run.Outcome{Held, run.OutOfCPU, run.TimedOut}}, 7, seconds(2), seconds(1),
		},
		{
			"it is expected to reach one of two limits",
			Attempt{Limits: policy.Limits{WallTime: seconds(2), CPUTime: seconds(1)}, Expect: []run.Outcome{run.OutOfCPU}}, 7, seconds(14), seconds(1),
		},
	} {
		got := test.attempt.stretch(test.pace, most).Limits
		if got.WallTime != test.wall || got.CPUTime != test.cpu {
			t.Errorf("%s: %v and %v, want %v and %v", test.name, got.WallTime, got.CPUTime, test.wall, test.cpu)
		}
	}
}

func TestMeasure(t *testing.T) {
	for pace, want := range map[Pace]Pace{0: 1, 1: 1, 6: 6, 1000: maxPace} {
		if got, err := newSuite(t).measure(t.Context(), &fakeRunner{pace: pace}); got != want || err != nil {
			t.Errorf("a runner %v times slower has pace %v, %v", pace, got, err)
		}
	}
	for name, test := range map[string]struct {
		answer runnerFunc
		want   Pace
		err    string
	}{
		"too slow to be measured": {func(run.Request) (run.Result, error) { return run.Result{Outcome: run.TimedOut}, nil }, maxPace, ""},
		"nothing runs":            {func(run.Request) (run.Result, error) { return run.Result{}, errors.New("no worker") }, 0, "no worker"},
		"the interpreter is broken": {func(run.Request) (run.Result, error) {
			return run.Result{Outcome: run.Raised, Error: "ImportError: json"}, nil
		}, 0, "ImportError: json"},
	} {
		got, err := newSuite(t).measure(t.Context(), test.answer)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// An attempt that ran out of time is repeated with the longest limits; then it is slow.
func TestProveRepeatsSlowAttempts(t *testing.T) {
	names := []string{"files/canary_by_path", "files/etc_passwd", "signals/kill_parent"}
	suite := newSuite(t, names...)
	tried := map[string][]time.Duration{}
	fake := &fakeRunner{pace: 2}
	fake.answer = func(req run.Request) (run.Result, error) {
		fake.mu.Lock()
		defer fake.mu.Unlock()
		tried[req.Script.Name] = append(tried[req.Script.Name], req.Limits.WallTime)
		if req.Script.Name == names[0]+".py" || req.Script.Name == names[1]+".py" && len(tried[req.Script.Name]) < 2 {
			return run.Result{Outcome: run.TimedOut}, nil
		}
		return run.Result{Outcome: run.Succeeded, Value: json.RawMessage(`{"escaped": false}`)}, nil
	}
	reported := 0
	verdicts, err := suite.Prove(t.Context(), fake, func(Verdict) { reported++ })
	if err != nil || reported != len(names) {
		t.Fatalf("%d verdicts reported: %v", reported, err)
	}
	for i, want := range []string{StateSlow, StateHeld, StateHeld} {
		if verdicts[i].State != want {
			t.Errorf("%s is %s, want %s", verdicts[i].Attempt.Name, verdicts[i].State, want)
		}
	}
	for i, want := range []int{2, 2, 1} {
		if got := tried[names[i]+".py"]; len(got) != want || got[0] != 2*defaultWall || want == 2 && got[1] != policy.DefaultMaxima().WallTime {
			t.Errorf("%s was tried with %v", names[i], got)
		}
	}
	if failed := Failed(verdicts); len(failed) != 0 {
		t.Errorf("slow is not failed: %v", failed)
	}
	if counts := Counts(verdicts); counts[StateSlow] != 1 || counts[StateHeld] != 2 {
		t.Errorf("%v", counts)
	}
}
