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

// NetGrant is a destination on the network that guests may connect to: a name, all
// names below one, or a range of addresses, and its ports. Only ParseNetGrant makes
// one, and == compares two. The zero value allows nothing.
type NetGrant struct {
	name   string       // canonical, without the "*."; empty for addresses
	below  bool         // the names below name, not name itself
	prefix netip.Prefix // valid for a grant by address
	ports  int32        // one port, or one of the two below
}

const (
	portsWeb int32 = 0  // 80 and 443, for a host without a port
	portsAny int32 = -1 // written as "*"
)

const (
	// The DNS allows no longer names and labels.
	maxName  = 253
	maxLabel = 63
	// maxHostText bounds the text before its conversion to ASCII: a name
	// in another script can take more bytes than its ASCII form, but
	// not more than this.
	maxHostText = 2048
)

// ParseNetGrant parses a grant:
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
// Addresses, networks and ports have one accepted spelling, so that a list of grants
// can be reviewed by reading it. Names are accepted in upper and lower case, in any
// script, and with a trailing dot; String returns the canonical form. Ambiguous
// text is an error.
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

// checkHostText refuses characters that no host has, and characters that URL parsers
// disagree about. A parser that sees another host than we do is a bypass.
func checkHostText(text string) error {
	switch {
	case text == "":
		return errors.New("is empty: write host:port, like example.com:443")
	case len(text) > maxHostText:
		return fmt.Errorf("is too long for a host name: the maximum is %d characters", maxName)
	case !utf8.ValidString(text):
		return errors.New("is not valid UTF-8: write the name as text")
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("has control characters: write the name alone")
	case strings.ContainsFunc(text, unicode.IsSpace):
		return errors.New("has spaces: write the name alone")
	case strings.Contains(text, "@"):
		return errors.New("has a user before the host: write only the part after the @")
	case strings.Contains(text, "%"):
		return errors.New("has a percent sign, but zones and escapes are not part of a host: write the name or address alone")
	case strings.ContainsAny(text, `\#?`):
		return errors.New("has characters of a URL: write host:port, like example.com:443")
	}
	return nil
}

// cutPort splits host:port. A missing port is empty. The host keeps the brackets of
// an IPv6 address.
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
		// It would include the host's loopback and the cloud's metadata service.
		return netip.Prefix{}, errors.New("covers every address: name the networks that you need")
	case prefix.Addr().Is4In6():
		return netip.Prefix{}, errors.New("is an IPv4 network written as IPv6: write it as IPv4, like 10.0.0.0/8")
	case prefix.Masked() != prefix:
		return netip.Prefix{}, fmt.Errorf("is an address with the length of a network: write %s for the network, or the address alone", prefix.Masked())
	}
	return prefix, nil
}

func parseWildcard(host string) (NetGrant, error) {
	rest, leading := strings.CutPrefix(host, "*.")
	switch {
	case host == "*" || host == "*.":
		return NetGrant{}, errors.New("would allow every host: name those that you need, like *.example.org")
	case !leading || strings.Contains(rest, "*"):
		return NetGrant{}, errors.New("has a wildcard inside the name: only the first label can be one, like *.example.org")
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

// String returns the canonical form, which ParseNetGrant parses to the same grant.
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

// Allows reports whether the grant includes this name and port. The name must
// come from CanonicalHost, because it is compared as text.
func (g NetGrant) Allows(host string, port uint16) bool {
	return g.CoversName(host) && g.allowsPort(port)
}

// AllowsAddr reports whether the grant is by address and includes this address and
// port. A grant by name includes no address.
func (g NetGrant) AllowsAddr(addr netip.Addr, port uint16) bool {
	return g.CoversAddr(addr) && g.allowsPort(port)
}

// CoversName is Allows for any port.
func (g NetGrant) CoversName(host string) bool {
	if g.name == "" {
		return false
	}
	if !g.below {
		return host == g.name
	}
	// Compare with the dot: evilexample.org is not below example.org.
	front, ok := strings.CutSuffix(host, "."+g.name)
	return ok && front != ""
}

// CoversAddr is AllowsAddr for any port.
func (g NetGrant) CoversAddr(addr netip.Addr) bool {
	return g.prefix.IsValid() && g.prefix.Contains(addr.Unmap())
}

// within reports whether the grants together include everything that g includes.
func (g NetGrant) within(grants []NetGrant) bool {
	if g.ports == portsWeb {
		plain, secure := g, g
		plain.ports, secure.ports = 80, 443
		return plain.within(grants) && secure.within(grants)
	}
	for _, outer := range grants {
		if outer.coversHosts(g) && (outer.ports == portsAny || g.ports != portsAny && outer.allowsPort(uint16(g.ports))) {
			return true
		}
	}
	return false
}

// coversHosts reports whether g includes every host of another grant.
func (g NetGrant) coversHosts(other NetGrant) bool {
	switch {
	case g.prefix.IsValid() || other.prefix.IsValid():
		return g.prefix.IsValid() && other.prefix.IsValid() && g.prefix.Bits() <= other.prefix.Bits() && g.prefix.Contains(other.prefix.Addr())
	case other.below && g.below && other.name == g.name:
		return true
	case other.below:
		return g.below && g.CoversName(other.name)
	}
	return g.CoversName(other.name)
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

// CanonicalHost returns the canonical form of a host: a name in lower-case ASCII
// without a trailing dot, or an address. Every notation that some resolver accepts
// as an IPv4 address (0x7f.1, 017700000001, 2130706433, 127.1) gives that address,
// so that the rules for addresses apply to it. IPv6 addresses may have brackets.
// Text that URL parsers read in different ways is an error.
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
	// After the mapping to ASCII, because digits and dots have full-width forms.
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

// asciiName returns text in lower-case ASCII, with one trailing dot removed.
func asciiName(text string) (string, error) {
	name := strings.ToLower(text)
	// ASCII names need no mapping, and the strict mapping would refuse names
	// that are in use, with underscores or like "r3---sn".
	if !isASCII(text) || strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") {
		mapped, err := idna.Lookup.ToASCII(text)
		if err != nil {
			return "", fmt.Errorf("is not a valid international name (%w): write its ASCII form, which begins with xn--", err)
		}
		// If a second mapping changes the name, programs that map once and programs
		// that map twice would connect to different hosts.
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
		return fmt.Errorf("is too long for a host name: the maximum is %d characters", maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return errors.New("has an empty label: write one dot between two labels")
		case len(label) > maxLabel:
			return fmt.Errorf("has a label of %d characters: the maximum is %d", len(label), maxLabel)
		case strings.ContainsFunc(label, notInName):
			return errors.New("is not a host name: write letters, digits, hyphens and dots, like api.example.com")
		case label[0] == '-' || label[len(label)-1] == '-':
			return errors.New("has a label that begins or ends with a hyphen, which no host name has")
		}
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// looseIPv4 parses an IPv4 address as inet_aton and browsers do: one to four
// numbers, decimal, octal or hexadecimal, the last of which fills the remaining
// bytes. A name whose last label is a number is an address or an error, never a
// name: no top-level domain is a number, but some resolvers would read an address.
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

// isNumber accepts more than looseNumber: 08 is a number, but programs disagree
// about its value.
func isNumber(s string) bool {
	hex, isHex := strings.CutPrefix(s, "0x")
	return isDigits(s) || isHex && strings.Trim(hex, "0123456789abcdef") == ""
}

func looseNumber(s string) (uint64, bool) {
	base := 10
	digits := s
	if hex, isHex := strings.CutPrefix(s, "0x"); isHex {
		if hex == "" {
			return 0, true // as browsers do
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
