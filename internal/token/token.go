// Package token identifies the callers of the service by the secrets that they send. Each
// caller has a name, a ceiling and a quota. A file lists them with the hashes of their
// secrets, not with the secrets.
package token

import (
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/policy"
)

// Caller is the sender of a request. The zero value has no name and no limits beyond the
// policy. Its lists are shared and must not be changed.
type Caller struct {
	Name    string
	Ceiling Ceiling
	Quota   admission.Quota
}

// Local is a caller of a frontend that needs no token.
var Local = Caller{Name: "local"}

// Ceiling bounds a caller's requests, within the operator's policy.
type Ceiling struct {
	// Maxima bound the limits of a request; zero fields mean the policy's.
	Maxima policy.Limits
	// Tiers are the allowed ones; empty means all. If the process tier is not among them,
	// scripts run in the first tier that can run them.
	Tiers []policy.Tier
	// Restricted applies the language rules to every script. It also forbids commands, to
	// which they cannot apply.
	Restricted bool
	// ScriptsOnly forbids commands.
	ScriptsOnly bool
}
