package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// NetGrant is one place on the network that guests may connect to: a name, all
// names below one, or a range of addresses, with its ports. It is made by
// ParseNetGrant alone and compares with ==. The zero value allows nothing.
type NetGrant struct {
	name   string       // canonical, without the "*."; empty for addresses
	below  bool         // the names below name, not name itself
	prefix netip.Prefix // valid for a grant by address
	ports  int32        // one port, or one of the two below
}

const (
	portsWeb int32 = 0  // 80 and 443: what a bare name means to whoever writes one
	portsAny int32 = -1 // written as "*"
)

const (
	// The DNS has no longer names and labels, so nothing can be at one.
	maxName  = 253
	maxLabel = 63
	// maxHostText is what is looked at at all: a name in another script is
	// longer before it is in ASCII, but not by more than this.
	maxHostText = 2048
)

// ParseNetGrant reads a grant:
//
//	api.example.com:443      one name, one port
//	example.com              ports 80 and 443
//	example.com:*            any port
//	*.example.org:443        every name below example.org, not example.org itself
//	192.0.2.7:8080           one address
//	10.0.0.0/8:5432          a network
//	[2001:db8::1]:443        IPv6 in brackets
//	[fd00::/8]:443
//
// Addresses, networks and ports have one spelling, so that a list of grants can
// be reviewed by reading it. Names are taken as people write them, in any case,
// in any script and with the dot at their end, and String gives the one form of
// each. What could be read in two ways is refused.
func ParseNetGrant(text string) (NetGrant, error) {
	if err := checkHostText(text); err != nil {
		return NetGrant{}, fmt.Errorf("%s %w", quote(text), err)
	}
	if strings.Contains(text, "://") {
		return NetGrant{}, fmt.Errorf("%s is a URL: write host:port, like example.com:443", quote(text))
	}
	host, port, err := cutPort(text)
	if err != nil {
		return NetGrant{}, fmt.Errorf("%s %w", quote(text), err)
	}
	g, err := parseGrantHost(host)
	if err != nil {
		return NetGrant{}, fmt.Errorf("%s %w", quote(text), err)
	}
	if g.ports, err = parsePorts(port); err != nil {
		return NetGrant{}, fmt.Errorf("%s %w", quote(text), err)
	}
	return g, nil
}

// checkHostText refuses what is in no host, and what parsers of URLs disagree
// about. One of them reads a different host than we do, and that is the bypass.
func checkHostText(text string) error {
	switch {
	case text == "":
		return errors.New("is empty: write host:port, like example.com:443")
	case len(text) > maxHostText:
		return fmt.Errorf("is longer than any name: %d characters is the most", maxName)
	case !utf8.ValidString(text):
		return errors.New("is not valid UTF-8: write the name as text")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("has control characters: write the name alone")
	case strings.ContainsFunc(text, unicode.IsSpace):
		return errors.New("has spaces: write the name alone")
	case strings.Contains(text, "@"):
		return errors.New("has a user before the host: write what is after the @ alone")
	case strings.Contains(text, "%"):
		return errors.New("has a percent sign: zones and escapes are no part of a host, write the name or address alone")
	case strings.ContainsAny(text, `\#?`):
		return errors.New("has characters of a URL: write host:port, like example.com:443")
	}
	return nil
}

// cutPort splits host:port. The port is empty where there is none; the
// brackets of an IPv6 address stay on the host.
func cutPort(text string) (host, port string, err error) {
	if strings.HasPrefix(text, "[") {
		inside, after, closed := strings.Cut(text, "]")
		switch {
		case !closed:
			return "", "", errors.New("has no closing bracket: write [2001:db8::1]:443")
		case strings.HasPrefix(after, "/"):
			return "", "", errors.New("has something after the bracket: write a network as [fd00::/8]:443")
		case after != "" && !strings.HasPrefix(after, ":"):
			return "", "", errors.New("has something after the bracket: write [2001:db8::1]:443")
		case after == ":":
			return "", "", errors.New("has no port after the colon: write one, * for all, or leave the colon out for 80 and 443")
		}
		return inside + "]", strings.TrimPrefix(after, ":"), nil
	}
	host, port, colon := strings.Cut(text, ":")
	switch {
	case strings.Contains(port, ":") && looksLikeIPv6(text):
		return "", "", errors.New("is an IPv6 address without brackets: write [2001:db8::1]:443")
	case strings.Contains(port, ":"):
		return "", "", errors.New("has more than one colon: write host:port, like example.com:443")
	case strings.Contains(port, "/"):
		return "", "", errors.New("has a path: write host:port alone")
	case colon && port == "":
		return "", "", errors.New("has no port after the colon: write one, * for all, or leave the colon out for 80 and 443")
	}
	return host, port, nil
}

func looksLikeIPv6(text string) bool {
	address, _, _ := strings.Cut(text, "/")
	_, err := netip.ParseAddr(address)
	return err == nil
}

func parsePorts(text string) (int32, error) {
	switch {
	case text == "":
		return portsWeb, nil
	case text == "*":
		return portsAny, nil
	case strings.ContainsAny(text, "-,"):
		return 0, errors.New("has more than one port: write a grant for each, or * for all")
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, fmt.Errorf("has the port %s: write a number from 1 to 65535, or * for all", quote(text))
	}
	return int32(n), nil
}

func parseGrantHost(host string) (NetGrant, error) {
	if inside, bracketed := strings.CutPrefix(host, "["); bracketed {
		inside = strings.TrimSuffix(inside, "]")
		if !strings.Contains(inside, ":") {
			return NetGrant{}, errors.New("has brackets, which are for IPv6 addresses: write it without")
		}
		prefix, err := parsePrefix(inside)
		return NetGrant{prefix: prefix}, err
	}
	if strings.Contains(host, "/") {
		address, _, _ := strings.Cut(host, "/")
		if _, isAddress, _ := looseIPv4(address); !isAddress {
			return NetGrant{}, errors.New("has a path: write host:port alone")
		}
		prefix, err := parsePrefix(host)
		return NetGrant{prefix: prefix}, err
	}
	if strings.Contains(host, "*") {
		return parseWildcard(host)
	}
	name, addr, err := CanonicalHost(host)
	if err != nil {
		return NetGrant{}, errors.Unwrap(err)
	}
	if addr.IsValid() {
		if host != addr.String() {
			return NetGrant{}, fmt.Errorf("is an IP address in an odd notation: write %s", addr)
		}
		return NetGrant{prefix: netip.PrefixFrom(addr, addr.BitLen())}, nil
	}
	return NetGrant{name: name}, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return netip.Prefix{}, errors.New("is not an IP address: write 192.0.2.7:443 or [2001:db8::1]:443")
		case addr.Is4In6():
			return netip.Prefix{}, fmt.Errorf("is an IPv4 address written as IPv6: write %s", addr.Unmap())
		}
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, errors.New("is not a network: write an address and a length, like 10.0.0.0/8:5432 or [fd00::/8]:443")
	case prefix.Bits() == 0:
		// It would open the host's own loopback and the cloud's metadata too.
		return netip.Prefix{}, errors.New("covers every address: name the networks that are meant")
	case prefix.Addr().Is4In6():
		return netip.Prefix{}, errors.New("is an IPv4 network written as IPv6: write it as IPv4, like 10.0.0.0/8")
	case prefix.Masked() != prefix:
		return netip.Prefix{}, fmt.Errorf("has an address inside of the network: write %s for the network, or the address alone", prefix.Masked())
	}
	return prefix, nil
}

func parseWildcard(host string) (NetGrant, error) {
	rest, leading := strings.CutPrefix(host, "*.")
	switch {
	case host == "*" || host == "*.":
		return NetGrant{}, errors.New("would allow every host: name those that are meant, like *.example.org")
	case !leading || strings.Contains(rest, "*"):
		return NetGrant{}, errors.New("has a wildcard inside of the name: only the first label can be one, like *.example.org")
	}
	name, addr, err := CanonicalHost(rest)
	switch {
	case err != nil:
		return NetGrant{}, errors.Unwrap(err)
	case addr.IsValid():
		return NetGrant{}, errors.New("has a wildcard before an address: write a network, like 10.0.0.0/8")
	case !strings.Contains(name, "."):
		return NetGrant{}, fmt.Errorf("would allow all of .%s: name at least two labels, like *.example.%[1]s", name)
	}
	return NetGrant{name: name, below: true}, nil
}

// String is the one form of the grant, which parses back to it.
func (g NetGrant) String() string {
	var host string
	switch {
	case g.prefix.IsValid():
		host = g.prefix.String()
		if g.prefix.IsSingleIP() {
			host = g.prefix.Addr().String()
		}
		if g.prefix.Addr().Is6() {
			host = "[" + host + "]"
		}
	case g.below:
		host = "*." + g.name
	default:
		host = g.name
	}
	switch g.ports {
	case portsWeb:
		return host
	case portsAny:
		return host + ":*"
	}
	return host + ":" + strconv.Itoa(int(g.ports))
}

// Allows reports whether the grant is for this name and port. The name must
// come from CanonicalHost: here text is compared with text.
func (g NetGrant) Allows(host string, port uint16) bool {
	return g.CoversName(host) && g.allowsPort(port)
}

// AllowsAddr reports whether the grant is by address, and for this one and
// this port. A grant by name says nothing about addresses.
func (g NetGrant) AllowsAddr(addr netip.Addr, port uint16) bool {
	return g.CoversAddr(addr) && g.allowsPort(port)
}

// CoversName is Allows for whoever does not know the port.
func (g NetGrant) CoversName(host string) bool {
	if g.name == "" {
		return false
	}
	if !g.below {
		return host == g.name
	}
	// The dot is part of the comparison: evilexample.org is not below
	// example.org.
	front, ok := strings.CutSuffix(host, "."+g.name)
	return ok && front != ""
}

// CoversAddr is AllowsAddr for whoever does not know the port.
func (g NetGrant) CoversAddr(addr netip.Addr) bool {
	return g.prefix.IsValid() && g.prefix.Contains(addr.Unmap())
}

func (g NetGrant) allowsPort(port uint16) bool {
	switch g.ports {
	case portsAny:
		return port != 0
	case portsWeb:
		return port == 80 || port == 443
	}
	return int32(port) == g.ports
}

// CanonicalHost gives the one form of a host that somebody says, with all
// that decides about it: either a name in lower-case ASCII without a trailing
// dot, or an address. Every notation that some resolver takes for an IPv4
// address (0x7f.1, 017700000001, 2130706433, 127.1) is that address, because
// the rules for addresses have to decide about it. IPv6 may have brackets.
// What parsers of URLs read in different ways is an error.
func CanonicalHost(text string) (name string, addr netip.Addr, err error) {
	refuse := func(err error) (string, netip.Addr, error) {
		return "", netip.Addr{}, fmt.Errorf("%s %w", quote(text), err)
	}
	if err := checkHostText(text); err != nil {
		return refuse(err)
	}
	if strings.ContainsAny(text, "[:]") {
		addr, err := canonicalIPv6(text)
		if err != nil {
			return refuse(err)
		}
		return "", addr, nil
	}
	name, err = asciiName(text)
	if err != nil {
		return refuse(err)
	}
	// After the mapping to ASCII: there are full-width digits and dots.
	if addr, isAddress, err := looseIPv4(name); err != nil {
		return refuse(err)
	} else if isAddress {
		return "", addr, nil
	}
	if err := checkName(name); err != nil {
		return refuse(err)
	}
	return name, netip.Addr{}, nil
}

func canonicalIPv6(text string) (netip.Addr, error) {
	inside, opened := strings.CutPrefix(text, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	addr, err := netip.ParseAddr(inside)
	if opened != closed || err != nil || !addr.Is6() {
		return netip.Addr{}, errors.New("is neither a name nor an address: write example.com, 192.0.2.7 or 2001:db8::1")
	}
	return addr.Unmap(), nil
}

// asciiName is text in lower-case ASCII without one trailing dot.
func asciiName(text string) (string, error) {
	name := strings.ToLower(text)
	// Names of plain letters, digits and hyphens need no mapping, and the
	// strict one would refuse underscores and "r3---sn" that are in use.
	if !isASCII(text) || strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") {
		mapped, err := idna.Lookup.ToASCII(text)
		if err != nil {
			return "", fmt.Errorf("is not a valid international name (%w): write its ASCII form, which begins with xn--", err)
		}
		// What does not map to itself would be two hosts for those who map
		// once and those who map twice.
		again, err := idna.Lookup.ToASCII(mapped)
		if err != nil || again != mapped || !isASCII(mapped) {
			return "", errors.New("is not a valid international name: write its ASCII form, which begins with xn--")
		}
		name = mapped
	}
	return strings.TrimSuffix(name, "."), nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("is longer than any name: %d characters is the most", maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return errors.New("has an empty label: write one dot between two labels")
		case len(label) > maxLabel:
			return fmt.Errorf("has a label of %d characters: %d is the most", len(label), maxLabel)
		case strings.ContainsFunc(label, notInName):
			return errors.New("is not a host's name: it has letters, digits, hyphens and dots, like api.example.com")
		case label[0] == '-' || label[len(label)-1] == '-':
			return errors.New("has a label that begins or ends with a hyphen: no host has such a name")
		}
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// looseIPv4 reads an IPv4 address as inet_aton and browsers do: one to four
// numbers, decimal, octal or hexadecimal, the last of which fills the rest. A
// name whose last label is a number is an address or an error, never a name:
// there is no such top-level domain, but there are resolvers that would find
// an address in it.
func looseIPv4(name string) (addr netip.Addr, isAddress bool, err error) {
	parts := strings.Split(name, ".")
	if !isNumber(parts[len(parts)-1]) {
		return netip.Addr{}, false, nil
	}
	wrong := errors.New("ends in a number and is not an IPv4 address: write four numbers from 0 to 255, like 192.0.2.7")
	if len(parts) > 4 {
		return netip.Addr{}, false, wrong
	}
	var value uint64
	for i, part := range parts {
		n, ok := looseNumber(part)
		last := i == len(parts)-1
		switch {
		case !ok:
			return netip.Addr{}, false, wrong
		case last && n >= 1<<(8*(4-i)):
			return netip.Addr{}, false, wrong
		case last:
			value |= n
		case n > 255:
			return netip.Addr{}, false, wrong
		default:
			value |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true, nil
}

// isNumber is wider than looseNumber: 08 is a number that nobody reads in the
// same way.
func isNumber(s string) bool {
	hex, isHex := strings.CutPrefix(s, "0x")
	return isDigits(s) || isHex && strings.Trim(hex, "0123456789abcdef") == ""
}

func looseNumber(s string) (uint64, bool) {
	base := 10
	digits := s
	if hex, isHex := strings.CutPrefix(s, "0x"); isHex {
		if hex == "" {
			return 0, true // browsers read it so
		}
		digits, base = hex, 16
	} else if len(s) > 1 && s[0] == '0' {
		base = 8
	}
	if !isNumber(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return n, err == nil
}
