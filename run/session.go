package run

import "github.com/cordon-sandbox/cordon/policy"

// Session says how a session is opened. What its scripts may do is the policy's.
type Session struct {
	// Restricted has all of its scripts go by the language rules.
	Restricted bool `json:"restricted,omitempty"`
	// Trust says where the code comes from; empty means a user.
	Trust policy.Trust `json:"trust,omitempty"`
}
