package main

import (
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// report is the JSON form of the findings in a script.
type report struct {
	OK       bool          `json:"ok"`
	Findings []run.Finding `json:"findings"`
}

func newReport(findings []run.Finding) report {
	// Never null, so that readers need no check.
	return report{OK: len(findings) == 0, Findings: append([]run.Finding{}, findings...)}
}

// showFindings formats findings as compilers do: a line each, which editors can jump to,
// and the hint below it. The modules that may be imported are the same for all findings
// and follow once, at the end.
func showFindings(name string, findings []run.Finding) []string {
	var lines, allowed []string
	for _, f := range hints.WordFindings(findings, hints.CommandLine) {
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

// place leaves out parts that are unknown, as in some syntax errors.
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
