package main

import (
	"strings"
	"testing"
)

// A typing error must not look like a bench that found nothing to blame.
func TestOnly(t *testing.T) {
	var opts options
	for _, p := range phases {
		if err := opts.choose(p.name); err != nil || opts.only != p.name {
			t.Errorf("-only %s: %q, %v", p.name, opts.only, err)
		}
	}
	for _, name := range []string{"comands", "", "starts,hooks"} {
		if err := opts.choose(name); err == nil || !strings.Contains(err.Error(), phaseNames()) {
			t.Errorf("-only %q: %v", name, err)
		}
	}
}
