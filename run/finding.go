package run

import (
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// Finding is one thing that the language rules refuse in a script: where it is,
// by which rule, why, and what would be right.
type Finding struct {
	// Rule is an id like "import-not-allowed"; "syntax" for what is no Python.
	Rule string `json:"rule"`
	// Line and Column count from 1, as editors do.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// Allowed is what could stand there instead, where that is a list.
	Allowed []string `json:"allowed,omitempty"`
}

// String is a line like those of compilers.
func (f Finding) String() string {
	text := fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Column, f.Rule, f.Reason)
	if f.Line == 0 { // of the script as a whole
		text = f.Rule + ": " + f.Reason
	}
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// Violation is the finding as a Result shows it.
func (f Finding) Violation() Violation {
	return Violation{
		Wall: policy.WallLanguage, Op: f.Rule, Detail: f.Reason, Line: f.Line, Column: f.Column,
		Count: 1, Hint: f.Hint, Allowed: f.Allowed,
	}
}

// FindingOf is the finding that a violation of the language rules shows.
func FindingOf(v Violation) (f Finding, ok bool) {
	if v.Wall != policy.WallLanguage {
		return Finding{}, false
	}
	return Finding{Rule: v.Op, Line: v.Line, Column: v.Column, Reason: v.Detail, Hint: v.Hint, Allowed: v.Allowed}, true
}

// Refusal is the error of a hook that cannot be opened: all findings of its
// script.
type Refusal struct{ Findings []Finding }

func (r *Refusal) Error() string { return DescribeFindings(r.Findings) }

// DescribeFindings gives a line for each finding, and one for what is allowed,
// which is the same for all of them.
func DescribeFindings(findings []Finding) string {
	var lines, allowed []string
	for _, f := range findings {
		lines = append(lines, f.String())
		if len(f.Allowed) > 0 {
			allowed = f.Allowed
		}
	}
	if len(allowed) > 0 {
		lines = append(lines, "allowed here: "+strings.Join(allowed, ", "))
	}
	return strings.Join(lines, "\n")
}
