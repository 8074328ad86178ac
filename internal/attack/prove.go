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

// Runner is what runs guests.
type Runner interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
}

// lanes is how many attempts run at once. Each lane has canaries of its own,
// so that a touched one is blamed on the right attempt.
const lanes = 2

// defaultWall keeps an attempt that hangs from holding up all others.
const defaultWall = policy.Duration(10 * time.Second)

// graceReturn is how long Run may take beyond the guest's wall limit. A Run
// that does not come back is a failure of the sandbox, not of the attempt.
const graceReturn = 15 * time.Second

// Suite is a set of attempts with the canaries that they are after.
type Suite struct {
	Attempts []Attempt
	// Tier is asked for in each request; empty lets cordon choose.
	Tier policy.Tier
	// Maxima, where set, are those of the policy: no attempt asks for more.
	Maxima policy.Limits

	canaries []*Canaries
}

// NewSuite reads all attempts and plants canaries under dir. Make the Runner
// after it, so that it starts in a host that has something to leak.
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

// Keep leaves the attempts of some areas; of all where none is named.
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
			return fmt.Errorf("%q is none: there are %s", area, strings.Join(known, ", "))
		}
	}
	s.Attempts = slices.DeleteFunc(s.Attempts, func(a Attempt) bool { return !slices.Contains(areas, a.Area) })
	return nil
}

// Close takes all canaries away.
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
	// Only the walls may keep a guest out, not the mode of this directory.
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

// Prove runs the attempts of s in r, each as a request of its own, and gives
// their verdicts in order. progress, if any, hears of each as it ends, one at
// a time. An error means that ctx ended, or that nothing runs in r; the verdicts so
// far come with it.
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

	// Once more, with nobody beside them and all the time that there is.
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

// attempt does the runs of one attempt; the last one's verdict counts, unless
// an earlier one shows more.
func (s *Suite) attempt(ctx context.Context, r Runner, c *Canaries, a Attempt, pace Pace) Verdict {
	programs, err := a.Runs()
	if err != nil {
		return Judge(a, run.Result{}, err, nil, pace)
	}
	a = a.stretch(pace, s.Maxima.Or(policy.DefaultMaxima()))
	given := c.Context()
	var v Verdict
	for i, program := range programs {
		limit := a.Limits.WallTime.Std() + pace.of(graceReturn)
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
			touched = append(touched, fmt.Sprintf("the run did not come back within %v", limit))
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

// Counts sums up verdicts by state.
func Counts(verdicts []Verdict) map[string]int {
	counts := map[string]int{StateHeld: 0, StateEscaped: 0, StateBroken: 0, StateSlow: 0, StateSkipped: 0}
	for _, v := range verdicts {
		counts[v.State]++
	}
	return counts
}

// Failed lists the verdicts that show a broken promise, or that an attempt is wrong.
func Failed(verdicts []Verdict) []Verdict {
	return slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool {
		return v.State != StateEscaped && v.State != StateBroken
	})
}
