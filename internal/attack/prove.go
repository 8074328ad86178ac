package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Runner runs guests.
type Runner interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
}

// lanes is how many attempts run at once. Each lane has its own canaries, so that the
// right attempt is blamed for a touched one.
const lanes = 2

// defaultWall bounds an attempt that hangs.
const defaultWall = 10 * time.Second

// graceReturn is how long Run may take beyond the guest's wall limit. A Run that does not
// return is a failure of the sandbox, not of the attempt.
const graceReturn = 15 * time.Second

// Suite is a set of attempts with the canaries that they try to reach.
type Suite struct {
	Attempts []Attempt
	// Tier is the tier of each request; if it is empty, cordon chooses.
	Tier policy.Tier
	// Maxima are those of the policy, if set: no attempt requests more.
	Maxima policy.Limits

	canaries []*Canaries
}

// NewSuite reads all attempts and plants canaries under dir. Create the Runner afterwards,
// so that the host has something to leak when it starts.
func NewSuite(dir string) (*Suite, error) {
	attempts, err := All()
	if err != nil {
		return nil, err
	}
	s := &Suite{Attempts: attempts}
	for i := range lanes {
		c, err := Plant(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			s.Close()
			return nil, err
		}
		s.canaries = append(s.canaries, c)
	}
	return s, nil
}

// Keep removes the attempts of all other areas, unless areas is empty.
func (s *Suite) Keep(areas []string) error {
	if len(areas) == 0 {
		return nil
	}
	var known []string
	for _, a := range s.Attempts {
		known = append(known, a.Area)
	}
	known = slices.Compact(known) // attempts come in the order of their names
	for _, area := range areas {
		if !slices.Contains(known, area) {
			return fmt.Errorf("%q is not an area: write one of %s", area, strings.Join(known, ", "))
		}
	}
	s.Attempts = slices.DeleteFunc(s.Attempts, func(a Attempt) bool { return !slices.Contains(areas, a.Area) })
	return nil
}

// Close removes all canaries.
func (s *Suite) Close() {
	for _, c := range s.canaries {
		c.Close()
	}
}

// Prove runs every attempt in r, with canaries in a temporary directory.
func Prove(ctx context.Context, r Runner, progress func(Verdict)) ([]Verdict, error) {
	dir, err := os.MkdirTemp("", "cordon-prove-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// Only the walls may stop a guest, not the mode of this directory.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	s, err := NewSuite(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Prove(ctx, r, progress)
}

// Prove runs the attempts of s in r, each as a separate request, and returns their verdicts
// in order. progress, if not nil, is called with each verdict, one at a time. An error means
// that ctx ended, or that nothing runs in r; it comes with the verdicts so far.
func (s *Suite) Prove(ctx context.Context, r Runner, progress func(Verdict)) ([]Verdict, error) {
	verdicts := make([]Verdict, len(s.Attempts))
	done := make([]bool, len(s.Attempts))
	var mu sync.Mutex
	pace, err := s.measure(ctx, r)
	if err != nil {
		return nil, err
	}
	var slow []int
	again := false
	one := func(lane, i int) {
		v := s.attempt(ctx, r, s.canaries[lane], s.Attempts[i], pace)
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if v.State == StateSlow && !again {
			slow = append(slow, i)
			return
		}
		verdicts[i], done[i] = v, true
		if progress != nil {
			progress(v)
		}
	}

	together := make(chan int)
	var wg sync.WaitGroup
	for lane := range s.canaries {
		wg.Go(func() {
			for i := range together {
				one(lane, i)
			}
		})
	}
	for i, a := range s.Attempts {
		if !a.Alone && ctx.Err() == nil {
			together <- i
		}
	}
	close(together)
	wg.Wait()
	for i, a := range s.Attempts {
		if a.Alone && ctx.Err() == nil {
			one(0, i)
		}
	}

	// Repeat slow attempts, one at a time and with the longest limits.
	pace, again = maxPace, true
	for _, i := range slow {
		if ctx.Err() == nil {
			one(0, i)
		}
	}

	var ended []Verdict
	for i, v := range verdicts {
		if done[i] {
			ended = append(ended, v)
		}
	}
	return ended, ctx.Err()
}

// attempt makes the runs of one attempt. The verdict is that of the first run that is not
// held, or of the last run.
func (s *Suite) attempt(ctx context.Context, r Runner, c *Canaries, a Attempt, pace Pace) Verdict {
	programs, err := a.Runs()
	if err != nil {
		return Judge(a, run.Result{}, err, nil, pace)
	}
	a = a.stretch(pace, s.Maxima.Or(policy.DefaultMaxima()))
	given := c.Context()
	var v Verdict
	for i, program := range programs {
		limit := a.Limits.WallTime + pace.stretch(graceReturn)
		bounded, cancel := context.WithTimeout(ctx, limit)
		res, err := r.Run(bounded, run.Request{
			Script: run.Script{Source: program, Name: a.Name + ".py", Context: given}, Tier: s.Tier, Limits: a.Limits,
		})
		late := bounded.Err() != nil && ctx.Err() == nil
		cancel()

		touched := c.Check()
		for _, other := range s.canaries {
			touched = append(touched, other.Spot(res)...)
		}
		if late {
			touched = append(touched, fmt.Sprintf("the run did not return within %v", limit))
		}
		v = Judge(a, res, err, touched, pace)
		if last := i == len(programs)-1; last || v.State != StateHeld {
			if !last {
				v.Detail = fmt.Sprintf("run %d: %s", i+1, v.Detail)
			}
			return v
		}
		var previous any
		if err := json.Unmarshal(res.Value, &previous); err == nil {
			given["previous"] = previous
		}
	}
	return Judge(a, run.Result{}, errors.New("the script has no runs"), nil, pace)
}

// Counts counts verdicts by state.
func Counts(verdicts []Verdict) map[string]int {
	counts := map[string]int{StateHeld: 0, StateEscaped: 0, StateBroken: 0, StateSlow: 0, StateSkipped: 0}
	for _, v := range verdicts {
		counts[v.State]++
	}
	return counts
}

// Failed returns the verdicts that are escaped or broken.
func Failed(verdicts []Verdict) []Verdict {
	return slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool {
		return v.State != StateEscaped && v.State != StateBroken
	})
}
