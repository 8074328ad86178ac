package policy

import (
	"fmt"
	"slices"
)

// Egress is how the network access of a command is restricted.
type Egress string

// The modes; the zero value means EgressStrict.
const (
	// EgressStrict runs a command in a network namespace that contains only a
	// proxy, which connects to the hosts in AllowNet. Hosts in the arguments
	// are checked before the command starts.
	EgressStrict Egress = "strict"
	// EgressPreflight only checks the hosts in the arguments. The command uses
	// the host's network.
	EgressPreflight Egress = "preflight"
	// EgressNone restricts nothing.
	EgressNone Egress = "none"
)

// ParseEgress parses a mode. An empty name gives the zero value.
func ParseEgress(name string) (Egress, error) {
	switch e := Egress(name); e {
	case "", EgressStrict, EgressPreflight, EgressNone:
		return e, nil
	}
	return "", fmt.Errorf("egress %s does not exist: write strict, preflight or none", quote(name))
}

// NetGrants parses AllowNet.
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

// The zero value means JailAuto.
const (
	JailAuto     JailBackend = "auto"     // native, or landlock where the host has no namespaces
	JailNative   JailBackend = "native"   // cordon itself, with namespaces
	JailBwrap    JailBackend = "bwrap"    // an installed bubblewrap
	JailLandlock JailBackend = "landlock" // cordon itself, without namespaces
)

// JailBackends returns all backends.
func JailBackends() []JailBackend {
	return []JailBackend{JailAuto, JailNative, JailBwrap, JailLandlock}
}

// ParseJailBackend parses a name. An empty one gives the zero value.
func ParseJailBackend(name string) (JailBackend, error) {
	if b := JailBackend(name); b == "" || slices.Contains(JailBackends(), b) {
		return b, nil
	}
	return "", fmt.Errorf("jail %s does not exist: write auto, native, bwrap or landlock", quote(name))
}
