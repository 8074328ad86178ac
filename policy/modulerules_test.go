package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestModuleRuleFor(t *testing.T) {
	p := Policy{ModuleRules: map[string]ModuleRule{"google": {Read: []string{}}, "google.cloud": {AllowNet: []string{}}}}
	others := Policy{ModuleRules: map[string]ModuleRule{"google": {Read: []string{}}, AnyModule: {AllowNet: []string{}}}}
	for _, tt := range []struct {
		policy       Policy
		module, name string
	}{
		{p, "google", "google"},
		{p, "google.auth", "google"},
		{p, "google.cloud", "google.cloud"},
		{p, "google.cloud.storage.blob", "google.cloud"},
		{p, "googleapis", ""},
		{p, AnyModule, ""},
		{p, "", ""},
		{others, "googleapis", AnyModule},
		{others, "google.auth", "google"},
		{others, AnyModule, AnyModule},
		{Policy{}, "google", ""},
	} {
		name, rule := tt.policy.ModuleRuleFor(tt.module)
		if name != tt.name || !reflect.DeepEqual(rule, tt.policy.ModuleRules[tt.name]) {
			t.Errorf("%s: %q %+v, want %q", tt.module, name, rule, tt.name)
		}
	}
}

// A rule can only narrow the grants of its policy.
func TestGrantWithinGrants(t *testing.T) {
	for _, tt := range []struct {
		inner, outer string // outer may be several, with spaces
		within       bool
	}{
		{"example.com", "example.com", true},
		{"example.com:443", "example.com", true},
		{"example.com:80", "example.com:443", false},
		{"example.com", "example.com:443", false},
		{"example.com", "example.com:443 example.com:80", true},
		{"example.com", "example.com:443 example.org:80", false},
		{"example.com:8080", "example.com", false},
		{"example.com:8080", "example.com:*", true},
		{"example.com:*", "example.com", false},
		{"example.com:*", "example.com:*", true},
		{"api.example.com", "*.example.com", true},
		{"example.com", "*.example.com", false},
		{"*.example.com", "*.example.com", true},
		{"*.api.example.com", "*.example.com", true},
		{"*.example.com", "*.api.example.com", false},
		{"*.example.com", "example.com", false},
		{"*.example.com", "api.example.com", false},
		{"evilexample.com", "*.example.com", false},
		{"192.0.2.7:80", "192.0.2.0/24:80", true},
		{"192.0.2.0/25:80", "192.0.2.0/24:80", true},
		{"192.0.2.0/24:80", "192.0.2.0/25:80", false},
		{"192.0.3.7:80", "192.0.2.0/24:80", false},
		{"[fd00::1]:80", "[fd00::/8]:80", true},
		{"[fd00::1]:80", "192.0.2.0/24:80", false},
		{"192.0.2.7:80", "example.com:80", false},
		{"example.com:80", "192.0.2.0/24:80", false},
		{"example.com", "", false},
	} {
		grants, err := Policy{AllowNet: strings.Fields(tt.outer)}.NetGrants()
		if err != nil {
			t.Fatal(err)
		}
		inner, err := ParseNetGrant(tt.inner)
		if err != nil {
			t.Fatal(err)
		}
		if inner.within(grants) != tt.within {
			t.Errorf("%s within %q: %v", tt.inner, tt.outer, !tt.within)
		}
	}
}

// Nothing and what the policy grants stay different in a document.
func TestDocumentKeepsModuleRules(t *testing.T) {
	p := Policy{
		Read: []string{"/data"}, AllowNet: []string{"example.com"},
		ModuleRules: map[string]ModuleRule{"requests": {AllowNet: []string{"example.com:443"}}, "pandas": {Read: []string{"/data/a"}}, AnyModule: {AllowNet: []string{}}},
	}
	text, err := json.Marshal(FromPolicy(p))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"module_rules":{"*":{"allow_net":[]},"pandas":{"read":["/data/a"]},"requests":{"allow_net":["example.com:443"]}}`; !strings.Contains(string(text), want) {
		t.Errorf("%s", text)
	}
	again, err := FromPolicy(p).Policy()
	if err != nil || !reflect.DeepEqual(again.ModuleRules, p.ModuleRules) {
		t.Errorf("%+v, %v", again.ModuleRules, err)
	}
}
