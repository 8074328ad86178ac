package egress

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// refusal is an attempt against the rules: an error for the guest, and a Violation for
// the host.
type refusal struct {
	detail string       // what, and by which rule; shown is what the guest sent
	allow  string       // the grant that would allow it; empty where none can
	rule   string       // the name of the module rule that refuses it; empty for a refusal of the policy
	hint   run.HintCode // what else to do; PlainHost where there is neither
	answer []byte       // for a guest that is in a tunnel already
}

func (r *refusal) Error() string { return r.detail }

// body is the answer to an HTTP client.
func (r *refusal) body() string {
	return "cordon: " + r.detail + "\n" + r.violation("connect", nil).Hint + "\n"
}

func (r *refusal) violation(op string, allowed []string) run.Violation {
	v := run.Violation{Wall: policy.WallEgress, Op: op, Detail: r.detail, Count: 1, Allowed: allowed}
	if r.rule != "" {
		// The guest itself names the module.
		v.Wall, v.Claimed = policy.WallLanguage, true
		return hints.ModuleRule(v, r.rule, "allow_net", r.allow)
	}
	if r.allow != "" {
		return hints.Give(v, run.HintAllowHost, hints.Data{"host": r.allow})
	}
	return hints.Give(v, cmp.Or(r.hint, hints.PlainHost), nil)
}

// report tells the host about err if it is a refusal.
func (p *Proxy) report(err error) {
	var r *refusal
	if p.onViolation != nil && errors.As(err, &r) {
		allowed := p.grants
		if p.rule != nil {
			allowed = p.rule.Grants
		}
		v := r.violation("connect", texts(allowed))
		v.Module = p.module
		p.onViolation(v)
	}
}

func texts(grants []policy.NetGrant) []string {
	var all []string
	for _, g := range grants {
		all = append(all, g.String())
	}
	return all
}

// show makes what a guest sent fit for a message: short, printable, and quoted
// unless it looks like a host.
func show(s string) string {
	const most = 80
	cut := len(s) > most
	s = text.Cut(s, most)
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:[]", r)
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		s = strconv.QuoteToASCII(s)
	}
	if cut {
		s += "…"
	}
	return s
}
