package main

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The soak must be able to fail.
func TestAbove(t *testing.T) {
	bound := state{processes: 1, files: 2, goroutines: 3, mounts: "m"}
	if err := bound.above(bound); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*state){
		"2 processes, want at most 1":   func(s *state) { s.processes++ },
		"3 descriptors, want at most 2": func(s *state) { s.files++ },
		"4 goroutines, want at most 3":  func(s *state) { s.goroutines++ },
		"mount table":                   func(s *state) { s.mounts = "n" },
		"cgroups are left: [g]":         func(s *state) { s.groups = []string{"g"} },
		"files are left: [f]":           func(s *state) { s.scratch = []string{"f"} },
	} {
		now := bound
		change(&now)
		if err := now.above(bound); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if now := (state{groups: []string{"g"}, mounts: "m"}); now.above(bound.while(1)) != nil {
		t.Error("an open Runner may have cgroups")
	}
}

func TestFlat(t *testing.T) {
	of := func(mebibytes ...int64) (looks []state) {
		for _, m := range mebibytes {
			looks = append(looks, state{rss: m << 20})
		}
		return looks
	}
	if err := flat(of(20, 22, 19, 25)); err != nil {
		t.Error(err)
	}
	if err := flat(of(20, 30, 40, 50)); err == nil {
		t.Error("growth is not seen")
	}
}

// Each kind occurs, also in a short soak.
func TestPick(t *testing.T) {
	random, seen := rand.New(rand.NewPCG(1, 0)), map[string]bool{}
	for range 1000 {
		seen[pick(random, kinds).kind.name] = true
	}
	for _, k := range kinds {
		if !seen[k.name] {
			t.Errorf("%s is never picked", k.name)
		}
	}
}

func TestKindsOf(t *testing.T) {
	if n := len(kindsOf("")); n != len(kinds) {
		t.Errorf("%d of %d kinds", n, len(kinds))
	}
	if sessions := kindsOf("session"); len(sessions) < 5 || len(sessions) == len(kinds) {
		t.Errorf("%d kinds of sessions", len(sessions))
	}
	if found := kindsOf("no such kind"); found != nil {
		t.Errorf("%v", found)
	}
}
