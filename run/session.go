package run

import "github.com/cordon-sandbox/cordon/policy"

// SessionOptions are the options of a session. The policy says what its scripts may do.
type SessionOptions struct {
	// Restricted applies the language rules to all scripts of the session.
	Restricted bool `json:"restricted,omitempty"`
	// Trust is the origin of the code; empty means TrustUser.
	Trust policy.Trust `json:"trust,omitempty"`
}
