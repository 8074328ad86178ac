package attack

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Pace is how many times longer a script takes here than on the machine where the limits
// of the attempts were chosen: at least 1. On an emulated or busy machine, attempts with
// those limits would only run out of time.
type Pace float64

// maxPace bounds how long a proof can take.
const maxPace = 20

// stretch multiplies a time by the pace.
func (p Pace) stretch(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(max(p, 1)))
}

// calibration is work for the interpreter that every system can do. calibrated is how
// long it takes on an idle machine of 2025.
const (
	calibrationName = "calibration.py"
	calibration     = "import json\nresult = len(json.dumps([str(i * i) for i in range(200000)]))\n"
	calibrated      = 60 * time.Millisecond
)

// measure runs the calibration a few times. The shortest time counts: the others show the
// load of other programs, and attempts that run out of time are repeated.
func (s *Suite) measure(ctx context.Context, r Runner) (Pace, error) {
	var times []time.Duration
	for range 3 {
		limits := policy.Limits{WallTime: maxPace * time.Second, CPUTime: maxPace * time.Second}
		res, err := r.Run(ctx, run.Request{
			Script: run.Script{Source: calibration, Name: calibrationName}, Tier: s.Tier, Limits: limits.Capped(s.Maxima.Or(policy.DefaultMaxima())),
		})
		switch {
		case err != nil:
			return 0, err
		case res.OK():
			times = append(times, res.Usage.WallTime)
		case !outOfTime(res.Outcome):
			return 0, errors.New("a harmless script does not run here: " + describe(res))
		}
	}
	if len(times) == 0 {
		return maxPace, nil
	}
	return min(max(Pace(slices.Min(times))/Pace(calibrated), 1), maxPace), nil
}

func outOfTime(o run.Outcome) bool { return o == run.TimedOut || o == run.OutOfCPU }

// stretch gives an attempt the time that it needs at a pace. A time limit that it is
// expected to reach stays: the attempt tests that limit.
func (a Attempt) stretch(pace Pace, most policy.Limits) Attempt {
	a.Limits.WallTime = cmp.Or(a.Limits.WallTime, defaultWall)
	a.Limits.CPUTime = cmp.Or(a.Limits.CPUTime, policy.DefaultLimits().CPUTime)
	for outcome, limit := range map[run.Outcome]*time.Duration{run.TimedOut: &a.Limits.WallTime, run.OutOfCPU: &a.Limits.CPUTime} {
		if !slices.Contains(a.Expect, outcome) {
			*limit = pace.stretch(*limit)
		}
	}
	a.Limits = a.Limits.Capped(most)
	return a
}
