package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Policy is what an operator allows. It is a value: make one, validate it,
// pass it on, never change it. The zero value runs scripts with the default
// limits, requires the default walls and grants nothing.
type Policy struct {
	// Name is the preset or file that it came from, for messages.
	Name string
	// Trust is the most that a request may claim for its code.
	Trust Trust
	// Limits are the defaults of a run; Maxima are how far a request may go.
	// Zero fields mean DefaultLimits and DefaultMaxima.
	Limits, Maxima Limits
	// OnOutputLimit says what happens to a guest that writes too much.
	OnOutputLimit OutputAction
	// Require adds walls to DefaultRequired. Prefer takes walls out of it:
	// they are put up where the host can, and missed without an error.
	Require, Prefer []Wall
	// Read lists absolute paths that guests may read, at the same path.
	Read []string
	// Python is the interpreter; empty means the one cordon finds.
	Python string
	// Preload lists modules imported once, before any guest starts.
	// Nil means DefaultPreload; an empty list means none.
	Preload []string
}

// DefaultPreload holds what scripts import most, at little cost to each fork.
var DefaultPreload = []string{
	"collections", "datetime", "functools", "itertools", "json", "math", "random", "re",
}

// Resolved fills in every default, so that what is printed is what is used.
func (p Policy) Resolved() Policy {
	p.Trust = p.Trust.OrUser()
	p.Maxima = p.Maxima.Or(DefaultMaxima)
	p.Limits = p.Limits.Or(DefaultLimits.capped(p.Maxima))
	if p.OnOutputLimit == "" {
		p.OnOutputLimit = OutputTruncate
	}
	if p.Preload == nil {
		p.Preload = DefaultPreload
	}
	return p
}

// Required lists the walls and needs that must hold under p.
func (p Policy) Required() []Wall {
	var required []Wall
	for _, w := range append(slices.Clone(DefaultRequired), p.Require...) {
		if !slices.Contains(required, w) && (!slices.Contains(p.Prefer, w) || slices.Contains(p.Require, w)) {
			required = append(required, w)
		}
	}
	return required
}

// Narrow gives the limits of one run: what the request asks for, within the
// maxima, and the policy's own defaults for the rest.
func (p Policy) Narrow(asked Limits) (Limits, error) {
	r := p.Resolved()
	if field, negative := asked.Negative(); negative {
		return Limits{}, fmt.Errorf("limits.%s is negative: leave it out for the default, or give a positive one", field)
	}
	if field, got, limit, above := asked.Above(r.Maxima); above {
		return Limits{}, fmt.Errorf("limits.%s is %v, above the policy's maximum of %v", field, got, limit)
	}
	return asked.Or(r.Limits), nil
}

// Validate runs every check and reports all that fail.
func (p Policy) Validate() error {
	var errs []error
	for _, check := range checks {
		if err := check.run(p.Resolved()); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", check.name, err))
		}
	}
	return errors.Join(errs...)
}

var checks = []struct {
	name string
	run  func(Policy) error
}{
	{"trust", func(p Policy) error { _, err := ParseTrust(string(p.Trust)); return err }},
	{"on_output_limit", func(p Policy) error { _, err := ParseOutputAction(string(p.OnOutputLimit)); return err }},
	{"limits", func(p Policy) error {
		if field, negative := p.Limits.Negative(); negative {
			return fmt.Errorf("%s is negative", field)
		}
		if field, got, limit, above := p.Limits.Above(p.Maxima); above {
			return fmt.Errorf("the default %s of %v is above the maximum of %v", field, got, limit)
		}
		return nil
	}},
	{"maxima", func(p Policy) error {
		if field, negative := p.Maxima.Negative(); negative {
			return fmt.Errorf("%s is negative", field)
		}
		if p.Maxima.OpenFiles > MaxOpenFiles {
			return fmt.Errorf("open_files of %d is above %d, the most that can be granted", p.Maxima.OpenFiles, MaxOpenFiles)
		}
		return nil
	}},
	{"floor", func(p Policy) error {
		switch {
		case p.Limits.OpenFiles < 8:
			return fmt.Errorf("open_files of %d is too few for an interpreter: give at least 8", p.Limits.OpenFiles)
		case p.Limits.Memory < 1*MiB:
			return fmt.Errorf("memory of %v is too little for any script: give at least 1MiB", p.Limits.Memory)
		}
		return nil
	}},
	{"walls", func(p Policy) error {
		for _, w := range append(slices.Clone(p.Require), p.Prefer...) {
			if !w.Known() {
				return fmt.Errorf("%q is not a wall: the walls are %s, %s, %s", w, join(Walls), WallFilesystem, WallNetwork)
			}
		}
		for _, w := range p.Require {
			if slices.Contains(p.Prefer, w) {
				return fmt.Errorf("%q is both required and preferred", w)
			}
		}
		return nil
	}},
	{"read", func(p Policy) error {
		for _, path := range p.Read {
			switch {
			case !filepath.IsAbs(path) || filepath.Clean(path) != path:
				return fmt.Errorf("%q is not a clean absolute path", path)
			case path == "/" || slices.Contains([]string{"/proc", "/sys", "/dev", "/tmp"}, path) ||
				strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/sys/") || strings.HasPrefix(path, "/dev/"):
				return fmt.Errorf("%q cannot be granted: it would open a wall, not a folder", path)
			}
		}
		return nil
	}},
	{"python", func(p Policy) error {
		if p.Python != "" && !filepath.IsAbs(p.Python) {
			return fmt.Errorf("%q is not an absolute path", p.Python)
		}
		return nil
	}},
	{"preload", func(p Policy) error {
		for _, m := range p.Preload {
			if !isModuleName(m) {
				return fmt.Errorf("%q is not a module's name", m)
			}
		}
		return nil
	}},
}

func isModuleName(s string) bool {
	if s == "" {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		for i, r := range part {
			letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			if !letter && (i == 0 || r < '0' || r > '9') {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return true
}

// capped lowers each field of l to max, so that an operator who sets a low
// maximum need not repeat it as the default.
func (l Limits) capped(max Limits) Limits {
	l.WallTime = min(l.WallTime, max.WallTime)
	l.CPUTime = min(l.CPUTime, max.CPUTime)
	l.Memory = min(l.Memory, max.Memory)
	l.Output = min(l.Output, max.Output)
	l.Scratch = min(l.Scratch, max.Scratch)
	l.OpenFiles = min(l.OpenFiles, max.OpenFiles)
	l.Threads = min(l.Threads, max.Threads)
	return l
}
