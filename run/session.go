package run

import (
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// SessionOptions are the options of a session. The policy says what its steps may do.
type SessionOptions struct {
	// Restricted applies the language rules to all steps of the session.
	Restricted bool `json:"restricted,omitempty"`
	// Trust is the origin of the code; empty means TrustUser.
	Trust policy.Trust `json:"trust,omitempty"`
	// Tier is where the session lives; empty means TierProcess where this system has it.
	Tier policy.Tier `json:"tier,omitempty"`
	// Limits are the limits of its steps, where a step sets no other. On TierProcess, those
	// on memory, CPUs, threads, open files and scratch are for the whole session: a step
	// cannot change them.
	Limits policy.Limits `json:"limits,omitzero"`
}

// Step is what the Result of a step has in addition to that of a single run.
type Step struct {
	// Number counts the steps of the session, from 1.
	Number int `json:"number"`
	// Survived reports whether the session goes on, with the state that the step left. It is
	// false if the step, or cordon, ended the interpreter.
	Survived bool `json:"survived"`
	// Added, Changed and Removed are the global variables that the step made, bound to other
	// objects and removed: at most 100 names each, without those that begin with an
	// underscore. A list that grew in place is not among them. They are the guest's word.
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Display is what the step displayed, in order.
	Display []Display `json:"display"`
	// Omitted counts what it displayed above the bounds: 64 objects, and the limit on results.
	Omitted int `json:"display_omitted,omitempty"`
}

// Variable describes a global variable of a session. It is the guest's word.
type Variable struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Size is the memory of the object itself in bytes, without that of others to which it
	// refers.
	Size int64 `json:"bytes"`
	// Text is a short form of the object on one line.
	Text string `json:"text"`
}

// Display is one object that a step displayed, in all the forms that the object has. It is
// the guest's word.
type Display struct {
	// Forms has a text for each MIME type, in base64 for types that are not text: see IsText.
	Forms map[string]string `json:"forms"`
	// Value says that this is the value of the step's last expression.
	Value bool `json:"value,omitempty"`
}

// IsText reports whether data of a MIME type is text: text/html, image/svg+xml,
// application/json and the like.
func IsText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "json")
}
