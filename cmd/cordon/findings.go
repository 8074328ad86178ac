package main

import (
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// report is what the language rules say of a script, as --json shows it.
type report struct {
	OK       bool          `json:"ok"`
	Findings []run.Finding `json:"findings"`
}

func newReport(findings []run.Finding) report {
	// Never null: who reads it need not ask.
	return report{OK: len(findings) == 0, Findings: append([]run.Finding{}, findings...)}
}

// showFindings tells findings as compilers do: a line each, by which an editor
// finds the place, and the hint below it. The modules that may be imported are
// the same for all of them, and come once, at the end.
func showFindings(name string, findings []run.Finding) []string {
	var lines, allowed []string
	for _, f := range findings {
		lines = append(lines, place(name, f)+": "+oneLine(f.Rule+": "+f.Reason))
		if f.Hint != "" {
			lines = append(lines, "    "+oneLine(f.Hint))
		}
		if len(f.Allowed) > 0 {
			allowed = f.Allowed
		}
	}
	if len(allowed) > 0 {
		lines = append(lines, "imports allowed here: "+text.Line(strings.Join(allowed, ", ")))
	}
	return lines
}

// place leaves out what is not known, as of some syntax errors.
func place(name string, f run.Finding) string {
	text := text.Line(name)
	for _, n := range []int{f.Line, f.Column} {
		if n > 0 {
			text += fmt.Sprintf(":%d", n)
		}
	}
	return text
}

func countFindings(n int) string {
	return countOf(n, "finding")
}

// findingsOf gives the findings that a Result shows as violations.
func findingsOf(res run.Result) []run.Finding {
	var findings []run.Finding
	for _, v := range res.Violations {
		if f, ok := run.FindingOf(v); ok {
			findings = append(findings, f)
		}
	}
	return findings
}
