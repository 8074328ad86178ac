package policy

import "fmt"

// Egress says how far a command may reach into the network.
type Egress string

// The modes; the zero value means EgressStrict.
const (
	// EgressStrict gives a command a network namespace with nothing in it but a
	// proxy that connects to what AllowNet names. Hosts in its arguments are
	// looked at before it starts.
	EgressStrict Egress = "strict"
	// EgressPreflight only looks at the hosts in the arguments. The command has
	// the host's network.
	EgressPreflight Egress = "preflight"
	// EgressNone restricts nothing.
	EgressNone Egress = "none"
)

// ParseEgress reads a mode; the empty one is the zero value.
func ParseEgress(name string) (Egress, error) {
	switch e := Egress(name); e {
	case "", EgressStrict, EgressPreflight, EgressNone:
		return e, nil
	}
	return "", fmt.Errorf("egress %s does not exist: write strict, preflight or none", quote(name))
}

// NetGrants are what AllowNet means.
func (p Policy) NetGrants() ([]NetGrant, error) {
	var grants []NetGrant
	for _, text := range p.AllowNet {
		grant, err := ParseNetGrant(text)
		if err != nil {
			return nil, fmt.Errorf("allow_net: %w", err)
		}
		grants = append(grants, grant)
	}
	return grants, nil
}

// JailBackend names what builds the sandbox of a command.
type JailBackend string

// The zero value means JailNative.
const (
	JailNative JailBackend = "native" // cordon itself
	JailBwrap  JailBackend = "bwrap"  // an installed bubblewrap
)

// ParseJailBackend reads a name; the empty one is the zero value.
func ParseJailBackend(name string) (JailBackend, error) {
	switch b := JailBackend(name); b {
	case "", JailNative, JailBwrap:
		return b, nil
	}
	return "", fmt.Errorf("backend %s does not exist: write native or bwrap", quote(name))
}
