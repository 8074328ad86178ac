package run

import "github.com/cordon-sandbox/cordon/policy"

// SessionOptions say how a session is opened. The policy says what its scripts may do.
type SessionOptions struct {
	// Restricted runs all scripts of the session by the language rules.
	Restricted bool `json:"restricted,omitempty"`
	// Trust says where the code comes from; empty means a user.
	Trust policy.Trust `json:"trust,omitempty"`
}
