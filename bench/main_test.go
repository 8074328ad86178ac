package main

import (
	"strings"
	"testing"
)

// A typing error must not look like a bench that found nothing to blame.
func TestOnly(t *testing.T) {
	for _, growth := range []bool{false, true} {
		all, others := phases, growthPhases
		if growth {
			all, others = growthPhases, phases
		}
		for _, p := range all {
			opts := options{growth: growth, only: p.name}
			if chosen, err := opts.chosen(); err != nil || len(chosen) != 1 || chosen[0].name != p.name {
				t.Errorf("%+v: %v, %v", opts, chosen, err)
			}
		}
		for _, name := range []string{"comands", "starts,hooks", others[1].name} {
			opts := options{growth: growth, only: name}
			if _, err := opts.chosen(); err == nil || !strings.Contains(err.Error(), phaseNames(all)) {
				t.Errorf("%+v: %v", opts, err)
			}
		}
		opts := options{growth: growth}
		if chosen, err := opts.chosen(); err != nil || len(chosen) != len(all) {
			t.Errorf("%+v: %v, %v", opts, chosen, err)
		}
	}
}
