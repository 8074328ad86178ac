package policy

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestZeroPolicy(t *testing.T) {
	if err := (Policy{}).Validate(); err != nil {
		t.Error(err)
	}
	r := Policy{}.Resolved()
	if r.Trust != TrustUser || r.OnOutputLimit != "" || r.Limits != DefaultLimits() || r.Maxima != DefaultMaxima() {
		t.Errorf("resolves to %+v", r)
	}
	if !slices.Equal(r.Preload, DefaultPreload()) || !slices.Equal(r.Require, DefaultRequired()) {
		t.Errorf("resolves to %+v", r)
	}
	if len(r.Read) != 0 || len(r.Prefer) != 0 || r.Python != "" {
		t.Errorf("grants something: %+v", r)
	}
	if again := r.Resolved(); !reflect.DeepEqual(again, r) {
		t.Errorf("Resolved is not its own fixed point: %+v", again)
	}
	if r.Preload[0] = "changed"; DefaultPreload()[0] == "changed" {
		t.Error("Resolved hands out the package's own list")
	}
}

func TestValidate(t *testing.T) {
	second := time.Second
	tests := []struct {
		check  string // the named check that must fail
		policy Policy
		words  string
	}{
		{"trust", Policy{Trust: "root"}, `trust: trust "root" does not exist: the origins are platform, user, third-party`},
		{"on_output_limit", Policy{OnOutputLimit: "panic"}, `on_output_limit: on_output_limit "panic" does not exist: write truncate or kill`},
		{"limits", Policy{Limits: Limits{Threads: -1}}, "limits.threads: is negative"},
		{"limits", Policy{Limits: Limits{WallTime: 2 * second}, Maxima: Limits{WallTime: second}},
			"limits.wall_time: the default of 2s is above the maximum of 1s: lower it, or raise maxima.wall_time too"},
		{"maxima", Policy{Maxima: Limits{Output: -1}}, "maxima.output: is negative"},
		{"maxima", Policy{Maxima: Limits{OpenFiles: 1001}}, "maxima.open_files: 1001 is above 1000, the most that can be granted"},
		{"floor", Policy{Limits: Limits{OpenFiles: 7}}, "limits.open_files: 7 is too few for an interpreter: give at least 8"},
		{"floor", Policy{Limits: Limits{Memory: MiB - 1}}, "limits.memory: 1048575B is too little for any script: give at least 1MiB"},
		{"walls", Policy{Require: []Wall{"moat"}}, `walls.require: "moat" is not a wall: the walls are no_new_privs, `},
		{"walls", Policy{Prefer: []Wall{"moat"}}, `walls.prefer: "moat" is not a wall`},
		{"walls", Policy{Require: []Wall{WallPID}, Prefer: []Wall{WallPID}}, `walls.prefer: "pid" is both required and preferred: keep one`},
		{"read", Policy{Read: []string{"data"}}, `read: "data" is not an absolute path: begin it with /`},
		{"read", Policy{Read: []string{""}}, `read: "" is not an absolute path`},
		{"read", Policy{Read: []string{"/data/../etc"}}, `read: "/data/../etc" is not a clean path: write "/etc"`},
		{"read", Policy{Read: []string{"/data/"}}, `write "/data"`},
		{"read", Policy{Read: []string{"/a\x00b"}}, "not printable text"},
		{"read", Policy{Read: []string{"/a\xff"}}, "not printable text"},
		{"read", Policy{Read: []string{"/"}}, `read: "/" cannot be granted: /, /proc, /sys, /dev and /tmp belong to the sandbox`},
		{"read", Policy{Read: []string{"/proc/1"}}, "cannot be granted"},
		{"read", Policy{Read: []string{"/dev"}}, "cannot be granted"},
		{"read", Policy{Read: []string{"/sys/kernel"}}, "cannot be granted"},
		{"read", Policy{Read: []string{"/tmp"}}, "cannot be granted"},
		{"read", Policy{Read: []string{"/dev/shm"}}, "cannot be granted"},
		{"write", Policy{Write: []string{"/dev/pts/0"}}, "cannot be granted"},
		{"write", Policy{Write: []string{"/usr/../etc"}}, `write: "/usr/../etc" is not a clean path: write "/etc"`},
		{"write", Policy{Write: []string{"/"}}, `write: "/" cannot be granted`},
		{"allow_net", Policy{AllowNet: []string{"example.com", "https://example.com"}}, "allow_net: "},
		{"egress", Policy{Egress: "loose"}, `egress "loose" does not exist: write strict, preflight or none`},
		{"jail", Policy{Jail: "docker"}, `jail "docker" does not exist: write auto, native, bwrap or landlock`},
		{"python", Policy{Python: "python3"}, `python: "python3" is not an absolute path: begin it with /`},
		{"preload", Policy{Preload: []string{"json; import os"}}, `preload: "json; import os" is not a module name`},
		{"preload", Policy{Preload: []string{""}}, "not a module name"},
		{"preload", Policy{Preload: []string{"a..b"}}, "not a module name"},
		{"preload", Policy{Preload: []string{"3d"}}, "not a module name"},
		{"walls", Policy{Prefer: []Wall{WallLanguage}}, "the language rules cannot be preferred: require them"},
		{"language", Policy{Language: Language{Modules: []string{"json; import os"}}}, `language.modules: "json; import os" is not a module name`},
		{"language", Policy{Language: Language{Builtins: []string{"os.path"}}}, `language.builtins: "os.path" is not the name of a builtin`},
		{"third_party", Policy{ThirdParty: TierWasm}, `third_party: "wasm" cannot be given to third-party code: write process, or leave the key out`},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"__main__": {Read: []string{}}}}, "module_rules.__main__: is the script itself"},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"a-b": {Read: []string{}}}}, `module_rules.a-b: "a-b" is not a module name: write one like requests`},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"": {Read: []string{}}}}, "is not a module name"},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"a.*": {Read: []string{}}}}, "is not a module name"},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"a": {}}}, "module_rules.a: has no rule: write allow_net or read"},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"a": {AllowNet: []string{"x y"}}}}, "module_rules.a.allow_net: "},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"a": {AllowNet: []string{"example.com"}}}}, `module_rules.a.allow_net: "example.com" is not in the policy's allow_net: a module rule can only narrow it`},
		{"module_rules", Policy{ModuleRules: map[string]ModuleRule{"*": {Read: []string{"data"}}}}, `module_rules.*.read: "data" is not an absolute path`},
		{"module_rules", Policy{Read: []string{"/data"}, ModuleRules: map[string]ModuleRule{"*": {Read: []string{"/database"}}}}, `module_rules.*.read: "/database" is not in the policy's read: a module rule can only narrow it`},
	}
	var covered []string
	for _, tt := range tests {
		covered = append(covered, tt.check)
		err := tt.policy.Validate()
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: error %v; want %q", tt.check, err, tt.words)
			continue
		}
		var found problems
		for _, check := range checks {
			if check.name == tt.check {
				check.run(tt.policy.Resolved(), &found)
			}
		}
		if len(found) == 0 {
			t.Errorf("%q did not come from the check %q", tt.words, tt.check)
		}
		var field *FieldError
		if !errors.As(err, &field) {
			t.Errorf("%v has no FieldError", err)
		}
	}
	for _, check := range checks {
		if !slices.Contains(covered, check.name) {
			t.Errorf("no test makes the check %q fail", check.name)
		}
	}
}

func TestValidateReportsAllProblems(t *testing.T) {
	err := Policy{Trust: "root", Read: []string{"a", "b"}, Prefer: []Wall{"moat"}}.Validate()
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d problems instead of 4:\n%v", n, err)
	}
}

func TestValidateAccepts(t *testing.T) {
	for _, p := range []Policy{
		{Read: []string{"/data", "/devices", "/process", "/tmpfiles"}},
		{Read: []string{"/tmp/data", "/dev/shm/data", "/var/tmp/data", "/run/user/1000/data"}, Write: []string{"/tmp/out"}},
		{Python: "/opt/venv/bin/python3", Preload: []string{"os.path", "_json", "numpy"}},
		{Preload: []string{}},
		{Write: []string{"/srv/out"}, AllowNet: []string{"example.com", "*.example.org:8443"}, Egress: EgressNone, Jail: JailBwrap},
		{Maxima: Limits{Memory: 64 * MiB}}, // the default of 256MiB follows
		{Require: []Wall{WallUser}, Prefer: []Wall{WallCgroup, WallSeccomp}},
	} {
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestRequired(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy Policy
		want   []Wall
	}{
		{"zero", Policy{}, DefaultRequired()},
		{"require adds", Policy{Require: []Wall{WallPID, WallPID}}, append(DefaultRequired(), WallPID)},
		{"require repeats", Policy{Require: []Wall{WallSeccomp}}, DefaultRequired()},
		{"prefer takes out", Policy{Prefer: []Wall{WallSeccomp, WallCgroup}},
			slices.DeleteFunc(DefaultRequired(), func(w Wall) bool { return w == WallSeccomp })},
		{"require wins", Policy{Require: []Wall{WallSeccomp}, Prefer: []Wall{WallSeccomp}}, DefaultRequired()},
	} {
		if got := tt.policy.Required(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v; want %v", tt.name, got, tt.want)
		}
	}
}

func TestWalls(t *testing.T) {
	for _, w := range append(Walls(), DefaultRequired()...) {
		if !w.Known() {
			t.Errorf("%q is not known", w)
		}
		for _, a := range w.Alternatives() {
			if !slices.Contains(Walls(), a) {
				t.Errorf("%q can be met by %q, which is no mechanism", w, a)
			}
		}
	}
	if Wall("moat").Known() || Wall("").Known() {
		t.Error("knows a wall that is none")
	}
}

func TestNames(t *testing.T) {
	for _, parse := range []func(string) error{
		func(s string) error { _, err := ParseTier(s); return err },
		func(s string) error { _, err := ParseTrust(s); return err },
		func(s string) error { _, err := ParseOutputAction(s); return err },
	} {
		if err := parse(""); err != nil {
			t.Error(err)
		}
		if err := parse("Process"); err == nil || !strings.Contains(err.Error(), `"Process" does not exist`) {
			t.Errorf("error %v", err)
		}
	}
	for i, trust := range Trusts() {
		for j, most := range Trusts() {
			if trust.Exceeds(most) != (i < j) {
				t.Errorf("%s.Exceeds(%s) = %v", trust, most, i >= j)
			}
		}
	}
	if Trust("").Exceeds(TrustUser) || !Trust("").Exceeds(TrustThirdParty) || !TrustPlatform.Exceeds("") {
		t.Error("the zero trust is not a user's")
	}
}
