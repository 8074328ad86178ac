package run

import (
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// Finding is one thing in a script that the language rules refuse: where it is, which
// rule refuses it, why, and what to write instead.
type Finding struct {
	// Rule is an id like "import-not-allowed", or "syntax" for a syntax error.
	Rule string `json:"rule"`
	// Line and Column count from 1, as editors do.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// Allowed lists what may be written instead, if the rule has a list.
	Allowed []string `json:"allowed,omitempty"`
}

// String returns a line in the form of a compiler's messages.
func (f Finding) String() string {
	text := fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Column, f.Rule, f.Reason)
	if f.Line == 0 { // about the whole script
		text = f.Rule + ": " + f.Reason
	}
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// Violation converts the finding to the form that a Result has.
func (f Finding) Violation() Violation {
	return Violation{
		Wall: policy.WallLanguage, Op: f.Rule, Detail: f.Reason, Line: f.Line, Column: f.Column,
		Count: 1, Hint: f.Hint, Allowed: f.Allowed,
	}
}

// FindingOf converts a violation of the language rules back to a finding.
func FindingOf(v Violation) (f Finding, ok bool) {
	if v.Wall != policy.WallLanguage {
		return Finding{}, false
	}
	return Finding{Rule: v.Op, Line: v.Line, Column: v.Column, Reason: v.Detail, Hint: v.Hint, Allowed: v.Allowed}, true
}

// Refusal is the error of opening a hook that the language rules refuse. It has all
// findings of the script.
type Refusal struct{ Findings []Finding }

func (r *Refusal) Error() string { return DescribeFindings(r.Findings) }

// DescribeFindings returns a line for each finding, and one with what is allowed,
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
