package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const module = "github.com/cordon-sandbox/cordon/"

// leftToTestAll is the end of the reason with which internal/hosttest's NeedsExtra skips.
const leftToTestAll = ": make test-all runs it"

// An event is a line of `go test -json`: see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of the package that failed to build
	Test       string
	Elapsed    float64 // in seconds
	Output     string
}

// A test is a test of a package, or a subtest. The package itself has the empty name.
type test struct{ pkg, name string }

// A report collects events and prints what matters about them.
type report struct {
	w       io.Writer
	verbose bool
	output  map[test][]string // of tests that have not ended
	parents map[test]bool     // tests that have subtests
	ended   map[test]float64  // how long each took
	left    map[test]bool     // left to make test-all
	failed  []test
}

func newReport(w io.Writer, verbose bool) *report {
	return &report{
		w: w, verbose: verbose,
		output: map[test][]string{}, parents: map[test]bool{}, ended: map[test]float64{}, left: map[test]bool{},
	}
}

// read reads events until the end of in. It prints lines that are not events unchanged.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(r.w, line)
		default:
			r.add(e)
		}
		if err == io.EOF {
			r.endRest()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// endRest ends the packages whose end was not reported, because their program died.
func (r *report) endRest() {
	packages := map[string]bool{}
	for t := range r.output {
		packages[t.pkg] = true
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		r.end(test{pkg: pkg}, event{Action: "fail"})
	}
}

func (r *report) add(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.w, e.Output)
	case "run":
		if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
			r.parents[test{e.Package, e.Test[:i]}] = true
		}
	case "output":
		if r.verbose {
			fmt.Fprint(r.w, e.Output)
		}
		if strings.Contains(e.Output, leftToTestAll) {
			r.left[t] = true
		}
		if !isNoise(e.Output) {
			r.output[t] = append(r.output[t], e.Output)
		}
	case "pass", "skip", "fail":
		r.end(t, e)
	}
}

// isNoise reports whether a line is of use only to programs or with -v.
func isNoise(line string) bool {
	line = strings.TrimLeft(line, " ")
	for _, prefix := range []string{"=== ", "--- PASS", "--- SKIP", "PASS\n"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

func (r *report) end(t test, e event) {
	if t.name != "" {
		r.ended[t] = e.Elapsed
	}
	if e.Action != "skip" {
		delete(r.left, t) // a test script prints each of its lines, also a skip whose condition was false
	}
	if e.Action == "fail" {
		r.failed = append(r.failed, t)
		r.printFailed(t)
	} else if t.name == "" && !r.verbose {
		fmt.Fprint(r.w, summary(r.output[t], t.pkg, e))
	}
	delete(r.output, t)
}

// summary returns go test's own line about a package that did not fail.
func summary(output []string, pkg string, e event) string {
	for _, line := range slices.Backward(output) {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") || strings.Contains(line, "[no test files]") {
			return line
		}
	}
	return fmt.Sprintf("%s\t%s\t%.3fs\n", e.Action, pkg, e.Elapsed)
}

// printFailed prints the output of a failed test. For a failed package it also prints the
// output of tests that never ended, because one of them ended the process.
func (r *report) printFailed(t test) {
	if r.verbose {
		return
	}
	if t.name == "" {
		var open []test
		for other := range r.output {
			if other.pkg == t.pkg && other.name != "" {
				open = append(open, other)
			}
		}
		slices.SortFunc(open, func(a, b test) int { return strings.Compare(a.name, b.name) })
		for _, other := range open {
			fmt.Fprintf(r.w, "--- NOT ENDED: %s %s\n%s", other.pkg, other.name, strings.Join(r.output[other], ""))
			delete(r.output, other)
		}
	}
	for _, line := range r.output[t] {
		fmt.Fprint(r.w, line)
	}
}

const slowest = 20

// finish prints the summary of all tests.
func (r *report) finish() {
	var leaves []test
	for t := range r.ended {
		if !r.parents[t] {
			leaves = append(leaves, t)
		}
	}
	slices.SortFunc(leaves, func(a, b test) int {
		return cmp.Or(cmp.Compare(r.ended[b], r.ended[a]), strings.Compare(a.pkg, b.pkg), strings.Compare(a.name, b.name))
	})
	if n := min(slowest, len(leaves)); n > 1 {
		fmt.Fprintf(r.w, "\nthe slowest %d of %d tests:\n", n, len(leaves))
		for _, t := range leaves[:n] {
			fmt.Fprintf(r.w, "%8.2fs  %s %s\n", r.ended[t], strings.TrimPrefix(t.pkg, module), t.name)
		}
	}
	if len(r.left) > 0 {
		fmt.Fprintf(r.w, "\n%d tests were left to make test-all\n", len(r.left))
	}
	if len(r.failed) > 0 {
		fmt.Fprintln(r.w, "\nfailed:")
		for _, t := range r.failed {
			fmt.Fprintln(r.w, " ", t.pkg, t.name)
		}
	}
}

// checkComplete prints the declared tests that did not run, and those that were left out,
// and reports whether there are none.
func (r *report) checkComplete(declared []test) bool {
	var lost []test
	for _, t := range declared {
		if _, ok := r.ended[t]; !ok {
			lost = append(lost, t)
		}
	}
	for _, t := range lost {
		fmt.Fprintln(r.w, "declared, but it did not run:", t.pkg, t.name)
	}
	for t := range r.left {
		fmt.Fprintln(r.w, "left to make test-all, which this is:", t.pkg, t.name)
	}
	return len(lost)+len(r.left) == 0
}
