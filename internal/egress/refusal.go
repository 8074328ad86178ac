package egress

import (
	"errors"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// refusal is an attempt against the rules: an error for the guest, and a Violation for
// the host.
type refusal struct {
	detail string // what, and by which rule; shown is what the guest sent
	allow  string // the grant that would allow it; empty where none can
	hint   string // what else to do; empty for the usual sentence
	answer []byte // for a guest that is in a tunnel already
}

func (r *refusal) Error() string { return r.detail }

func (r *refusal) advice() string {
	switch {
	case r.hint != "":
		return r.hint
	case r.allow != "":
		return "only hosts in allow_net can be reached from this sandbox: use one of them, or ask whoever runs it to allow this one (--allow-net " + r.allow + ")"
	}
	return "only hosts in allow_net can be reached from this sandbox: write the host as a plain name or address"
}

// body is the answer to an HTTP client.
func (r *refusal) body() string {
	text := "cordon: " + r.detail + "\n"
	if r.allow != "" {
		return text + "allow it with allow_net (--allow-net " + r.allow + ")\n"
	}
	return text + r.advice() + "\n"
}

func (r *refusal) violation(op string, allowed []string) run.Violation {
	return run.Violation{Wall: policy.WallEgress, Op: op, Detail: r.detail, Count: 1, Hint: r.advice(), Allowed: allowed}
}

// report tells the host about err if it is a refusal.
func (p *Proxy) report(err error) {
	var r *refusal
	if p.onViolation != nil && errors.As(err, &r) {
		p.onViolation(r.violation("connect", p.allowed))
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
