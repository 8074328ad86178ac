package egress

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
)

// target is a canonical host and port that a guest asks for.
type target struct {
	name string     // empty for an address
	addr netip.Addr // valid if the guest gave an address
	port uint16
}

func (t target) host() string {
	if t.name != "" {
		return t.name
	}
	return t.addr.String()
}

func (t target) String() string { return net.JoinHostPort(t.host(), strconv.Itoa(int(t.port))) }

// newTarget makes a host canonical. The error is a refusal: another program might read
// a host that we cannot parse.
func newTarget(host string, port uint16) (target, error) {
	name, addr, err := policy.CanonicalHost(host)
	switch {
	case err != nil:
		return target{}, &refusal{detail: show(host) + ":" + strconv.Itoa(int(port)) + ": " + errors.Unwrap(err).Error()}
	case port == 0:
		return target{}, &refusal{detail: net.JoinHostPort(show(host), "0") + ": 0 is not a port"}
	}
	return target{name: name, addr: addr, port: port}, nil
}

// parseTarget parses host:port. The port is optional if there is a default.
func parseTarget(text string, standard uint16) (target, error) {
	host, port := text, ""
	// IPv6 addresses contain colons, so only a colon after the bracket counts.
	if colon := strings.LastIndexByte(text, ':'); colon > strings.LastIndexByte(text, ']') {
		host, port = text[:colon], text[colon+1:]
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return target{}, &refusal{detail: show(text) + ": is an IPv6 address without brackets"}
	}
	if port == "" {
		if standard == 0 {
			return target{}, &refusal{detail: show(text) + ": has no port"}
		}
		return newTarget(host, standard)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || strings.Trim(port, "0123456789") != "" {
		return target{}, &refusal{detail: show(text) + ": the port is not a number from 1 to 65535"}
	}
	return newTarget(host, uint16(n))
}

// admitted parses a target and checks it against the grants.
func (p *Proxy) admitted(text string, standard uint16) (target, error) {
	t, err := parseTarget(text, standard)
	if err == nil {
		err = p.admit(t)
	}
	return t, err
}

// admit checks t against the grants, and against the rule of the module.
func (p *Proxy) admit(t target) error {
	if err := admit(p.grants, t); err != nil || p.rule == nil {
		return err
	}
	if _, allowed := covered(p.rule.Grants, t); !allowed {
		return &refusal{detail: t.String() + ": not in module_rules." + p.rule.Name + ".allow_net", allow: t.String(), rule: p.rule.Name}
	}
	return nil
}

// admit checks t against the grants. It resolves nothing.
func admit(grants []policy.NetGrant, t target) error {
	known, allowed := covered(grants, t)
	if allowed {
		return nil
	}
	return notGranted(t, known)
}

// covered reports whether a grant includes the host, and whether one includes its port
// too.
func covered(grants []policy.NetGrant, t target) (known, allowed bool) {
	for _, g := range grants {
		known = known || t.name != "" && g.CoversName(t.name) || t.name == "" && g.CoversAddr(t.addr)
		allowed = allowed || t.name != "" && g.Allows(t.name, t.port) || t.name == "" && g.AllowsAddr(t.addr, t.port)
	}
	return known, allowed
}

// notGranted returns the refusal of a target. Port 0 means that the port is unknown.
func notGranted(t target, known bool) *refusal {
	shown, allow, rule := t.String(), t.String(), "not in allow_net"
	switch {
	case known:
		rule = "this port is not in allow_net"
	case t.name == "":
		rule = "not in allow_net, where an address needs a grant by address"
	}
	if t.port == 0 {
		shown, allow = t.host(), net.JoinHostPort(t.host(), "PORT")
	}
	return &refusal{detail: shown + ": " + rule, allow: allow}
}

// matchesTarget reports whether a server name that the guest sends inside a tunnel is
// allowed for the tunnel's target. Letters of other scripts are not mapped to ASCII
// here, because servers do not map them.
func (p *Proxy) matchesTarget(t target, host string) bool {
	name, addr, err := policy.CanonicalHost(host)
	switch {
	case err != nil || name != "" && !strings.EqualFold(strings.TrimSuffix(host, "."), name):
		return false
	case t.name != "":
		return name == t.name
	case addr.IsValid():
		return addr == t.addr
	}
	// The grant of an address of a content network must not include every site
	// behind it.
	return p.admit(target{name: name, port: t.port}) == nil
}
