package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/bench/proc"
)

// state is what could be left behind.
type state struct {
	processes  int
	files      int
	goroutines int
	mounts     string
	groups     []string
	scratch    []string
	rss        int64
	open       bool // a bound for a Runner that is not closed: it has cgroups
}

func (s state) String() string {
	return fmt.Sprintf("%d processes, %d descriptors, %d goroutines, %d mounts, %d cgroups, %d files, %.1f MiB",
		s.processes, s.files, s.goroutines, strings.Count(s.mounts, "\n"), len(s.groups), len(s.scratch), float64(s.rss)/(1<<20))
}

// while adds what an open Runner may have more than a closed one: fork servers, waiting
// workers, and descriptors and goroutines for each of them. It is a bound against growth;
// the exact comparison comes after Close.
func (s state) while(concurrency int) state {
	// For each of four pools: waiting workers, leased workers, two generations of servers.
	workers := 3*8 + 2 + concurrency + 8
	s.processes += workers
	s.files += 16 * workers
	s.goroutines += 8 * workers
	s.open = true
	return s
}

func measure(scratch string) (state, error) {
	// So that only memory in use counts.
	debug.FreeOSMemory()
	s := state{goroutines: runtime.NumGoroutine()}
	var problems [6]error
	processes, err := proc.Descendants(os.Getpid())
	s.processes, problems[0] = len(processes), err
	s.files, problems[1] = proc.Files()
	s.mounts, problems[2] = proc.Mounts()
	// Cgroups of other cordons on this machine do not count.
	s.groups, problems[3] = proc.Groups(fmt.Sprintf("cordon-%d-", os.Getpid()))
	s.rss, problems[4] = proc.RSS()
	s.scratch, problems[5] = filepath.Glob(filepath.Join(scratch, "*"))
	return s, errors.Join(problems[:]...)
}

// awaitBelow measures until nothing is above the bound, since the last workers are reaped in
// the background, or returns what stays above it.
func awaitBelow(scratch string, bound state) (state, error) {
	pause := time.Millisecond
	for deadline := time.Now().Add(10 * time.Second); ; {
		now, err := measure(scratch)
		if err != nil {
			return now, err
		}
		if err = now.above(bound); err == nil || time.Now().After(deadline) {
			return now, err
		}
		time.Sleep(pause)
		pause = min(2*pause, 200*time.Millisecond)
	}
}

func (s state) above(bound state) error {
	var problems []error
	for _, c := range []struct {
		what       string
		now, limit int
	}{
		{"processes", s.processes, bound.processes},
		{"descriptors", s.files, bound.files},
		{"goroutines", s.goroutines, bound.goroutines},
	} {
		if c.now > c.limit {
			problems = append(problems, fmt.Errorf("%d %s, want at most %d", c.now, c.what, c.limit))
		}
	}
	if s.mounts != bound.mounts {
		problems = append(problems, errors.New("the mount table has changed"))
	}
	if !bound.open && len(s.groups) > len(bound.groups) {
		problems = append(problems, fmt.Errorf("cgroups are left: %v", s.groups))
	}
	if len(s.scratch) > len(bound.scratch) {
		problems = append(problems, fmt.Errorf("temporary files are left: %v", s.scratch))
	}
	return errors.Join(problems...)
}
