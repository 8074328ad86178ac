package zygote

import (
	_ "embed"
	"net/netip"

	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
)

// The audit hook that watches imported modules. It is sent as source: only policies with
// module rules need it.
//
//go:embed python/modules.py
var modulesPart string

// Modules are the rules for the imported modules of guests.
type Modules struct {
	// Granted lists the paths that the policy lets scripts read.
	Granted []string
	Rules   map[string]policy.ModuleRule
	// Proxy is the address at which guests reach the network.
	Proxy netip.AddrPort
}

// messages returns the program of the audit hook and its configuration.
func (m *Modules) messages() ([][]byte, error) {
	rules := map[string]any{}
	for name, rule := range m.Rules {
		rules[name] = nil
		if rule.Read != nil {
			rules[name] = rule.Read
		}
	}
	config, err := wire.AppendValue(nil, map[string]any{
		"granted": m.Granted, "rules": rules,
		"proxy": []any{m.Proxy.Addr().String(), int(m.Proxy.Port())},
	})
	if err != nil {
		return nil, err
	}
	return append(packets([]byte(modulesPart)), packets(config)...), nil
}
