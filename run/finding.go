package run

import (
	"fmt"
	"strings"
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
	// HintCode and HintData are for programs that word the hint for their own users.
	HintCode HintCode          `json:"hint_code,omitempty"`
	HintData map[string]string `json:"hint_data,omitempty"`
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

// Refusal is the error of opening a hook that the language rules refuse. It has all
// findings of the script.
type Refusal struct{ Findings []Finding }

// Error returns a line for each finding, and one with what is allowed, which is the same
// for all of them.
func (r *Refusal) Error() string {
	var lines, allowed []string
	for _, f := range r.Findings {
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
