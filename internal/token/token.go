// Package token knows who may ask, and for what: the names behind the secrets that
// callers show, each with a ceiling and a quota. They stand in a file, which holds hashes
// of the secrets and none of them.
package token

import (
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/policy"
)

// Caller is who asks. The zero value has no name and the whole of what the policy
// allows. Its lists are shared, and are to be read alone.
type Caller struct {
	Name    string
	Ceiling Ceiling
	Quota   admission.Quota
}

// Local is whoever can reach a frontend that asks for no token.
var Local = Caller{Name: "local"}

// Ceiling is how far a caller's requests may go, below the operator's policy.
type Ceiling struct {
	// Maxima are the most that a request may ask for; zero fields mean the policy's.
	Maxima policy.Limits
	// Tiers are those that may be asked for; none means all. The first that can run one
	// is what a script gets if the process tier is not among them.
	Tiers []policy.Tier
	// Restricted has every script go by the language rules. Commands cannot, and are
	// taken away.
	Restricted bool
	// ScriptsOnly takes commands away.
	ScriptsOnly bool
}
