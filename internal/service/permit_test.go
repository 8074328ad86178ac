package service

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const second = time.Second

func ceilingOf(names ...policy.Tier) token.Ceiling { return token.Ceiling{Tiers: names} }

func TestPermit(t *testing.T) {
	t.Setenv("CORDON_RUNSC", t.TempDir()+"/runsc") // a host without gVisor
	low := token.Ceiling{Maxima: policy.Limits{WallTime: 5 * second, Memory: 64 * policy.MiB}}
	high := token.Ceiling{Maxima: policy.Limits{Memory: 64 * policy.GiB}}
	// The defaults below a ceiling: only the limits that the ceiling sets are lower.
	lowered := policy.DefaultLimits()
	lowered.WallTime, lowered.Memory, lowered.Fuel = 5*second, 64*policy.MiB, 0
	asked := lowered
	asked.WallTime, asked.Threads = 2*second, 8

	command := run.Request{Command: run.Command{Args: []string{"ls"}}}
	for _, tt := range []struct {
		name     string
		ceiling  token.Ceiling
		policy   policy.Policy
		req      run.Request
		want     run.Request
		class    run.Class
		words    string
		commands bool
		invalid  bool // permit allows it, and the Runner refuses it
	}{
		{name: "no ceiling changes nothing", req: script, want: script},
		{name: "what is no request stays for the Runner", req: run.Request{}, want: run.Request{}, invalid: true},
		{name: "a limit of modules stays in the request of a script", ceiling: low, req: run.Request{Script: run.Script{Source: "1"}, Limits: policy.Limits{Fuel: 1}},
			want: run.Request{Script: run.Script{Source: "1"}, Limits: policy.Limits{Fuel: 1}.Or(lowered)}, invalid: true},
		{name: "a tier that does not exist", ceiling: ceilingOf(policy.TierWasm), req: run.Request{Script: run.Script{Source: "1"}, Tier: "moon"},
			want: run.Request{Script: run.Script{Source: "1"}, Tier: "moon"}, invalid: true},
		{name: "the defaults come down to the ceiling", ceiling: low, req: run.Request{Script: run.Script{Source: "1"}}, want: run.Request{Script: run.Script{Source: "1"}, Limits: lowered}},
		{name: "what is asked for stays, below the ceiling", ceiling: low, req: run.Request{Script: run.Script{Source: "1"}, Limits: policy.Limits{WallTime: 2 * second, Threads: 8}},
			want: run.Request{Script: run.Script{Source: "1"}, Limits: asked}},
		{name: "above the ceiling", ceiling: low, req: run.Request{Script: run.Script{Source: "1"}, Limits: policy.Limits{WallTime: 6 * second}},
			class: run.Invalid, words: "limits.wall_time: 6s is above the maximum of 5s for alice"},
		{name: "above the policy, in what the ceiling does not say", ceiling: low, req: run.Request{Script: run.Script{Source: "1"}, Limits: policy.Limits{Threads: 17}},
			class: run.Invalid, words: "limits.threads: 17 is above the maximum of 16 for alice"},
		{name: "a ceiling above the policy's allows no more", ceiling: high, req: run.Request{Script: run.Script{Source: "1"}, Limits: policy.Limits{Memory: 2 * policy.GiB}},
			class: run.Invalid, words: "limits.memory: 2GiB is above the maximum of 1GiB"},

		{name: "an allowed tier", ceiling: ceilingOf(policy.TierProcess, policy.TierWasm), req: run.Request{Script: run.Script{Source: "1"}, Tier: policy.TierWasm}, want: run.Request{Script: run.Script{Source: "1"}, Tier: policy.TierWasm}},
		{name: "another tier", ceiling: ceilingOf(policy.TierWasm), req: run.Request{Script: run.Script{Source: "1"}, Tier: policy.TierProcess},
			class: run.Forbidden, words: `tier "process" is not allowed for alice: say one of wasm`},
		{name: "no tier said: process first", ceiling: ceilingOf(policy.TierWasm, policy.TierProcess), req: run.Request{Script: run.Script{Source: "1"}}, want: run.Request{Script: run.Script{Source: "1"}, Tier: policy.TierProcess}},
		{name: "no tier said: the first that runs scripts", ceiling: ceilingOf(policy.TierJail, policy.TierHook, policy.TierWasm), req: run.Request{Script: run.Script{Source: "1"}}, want: run.Request{Script: run.Script{Source: "1"}, Tier: policy.TierWasm}},
		{name: "no tier for scripts", ceiling: ceilingOf(policy.TierJail), req: run.Request{Script: run.Script{Source: "1"}}, class: run.Forbidden, words: "alice is allowed no tier that runs scripts"},
		{name: "third-party, with the exception", ceiling: ceilingOf(policy.TierWasm, policy.TierProcess), policy: policy.Policy{ThirdParty: policy.TierProcess},
			req: run.Request{Script: run.Script{Source: "1"}, Trust: policy.TrustThirdParty}, want: run.Request{Script: run.Script{Source: "1"}, Trust: policy.TrustThirdParty, Tier: policy.TierProcess}},
		{name: "third-party, without it", ceiling: ceilingOf(policy.TierProcess), req: run.Request{Script: run.Script{Source: "1"}, Trust: policy.TrustThirdParty},
			class: run.Unsupported, words: "third-party code cannot be a script"},

		{name: "commands are off", req: command, class: run.Forbidden, words: "commands are not allowed here: send a script"},
		{name: "commands are on", commands: true, req: command, want: command},
		{name: "not for scripts only", commands: true, ceiling: token.Ceiling{ScriptsOnly: true}, req: command, class: run.Forbidden, words: "send a script"},
		{name: "not for who is restricted", commands: true, ceiling: token.Ceiling{Restricted: true}, req: command, class: run.Forbidden, words: "send a script"},
		{name: "not under the language rules", commands: true, policy: policy.Policy{Require: []policy.Wall{policy.WallLanguage}}, req: command, class: run.Forbidden},
		{name: "no tier for commands", commands: true, ceiling: ceilingOf(policy.TierProcess), req: command, class: run.Forbidden, words: "alice is allowed no tier that runs commands"},
		{name: "a tier for commands", commands: true, ceiling: ceilingOf(policy.TierProcess, policy.TierJail), req: command, want: run.Request{Command: run.Command{Args: []string{"ls"}}, Tier: policy.TierJail}},

		{name: "restricted by the ceiling", ceiling: token.Ceiling{Restricted: true}, req: run.Request{Script: run.Script{Source: "1"}}, want: run.Request{Script: run.Script{Source: "1", Restricted: true}}},
		{name: "restricted by itself", req: run.Request{Script: run.Script{Source: "1", Restricted: true}}, want: run.Request{Script: run.Script{Source: "1", Restricted: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t, Options{Policy: tt.policy, Commands: tt.commands})
			got, err := s.permit(token.Caller{Name: "alice", Ceiling: tt.ceiling}, tt.req)
			if tt.class != "" {
				if err == nil || run.ClassOf(err) != tt.class || !strings.Contains(err.Error(), tt.words) {
					t.Errorf("error %v; want %s, %q", err, tt.class, tt.words)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
			if err := got.Validate(); errors.Is(err, run.ErrInvalid) != tt.invalid {
				t.Errorf("the Runner returned %v", err)
			}
		})
	}
}

// Every maximum of a token works with every kind of request: those that do not apply to the
// request are ignored.
func TestEveryMaximumGoesWithEveryRequest(t *testing.T) {
	s := newService(t, Options{Commands: true})
	fields := reflect.TypeFor[policy.Limits]()
	for i := range fields.NumField() {
		var maxima policy.Limits
		reflect.ValueOf(&maxima).Elem().Field(i).SetInt(reflect.ValueOf(policy.DefaultLimits()).Field(i).Int())
		who := token.Caller{Name: "alice", Ceiling: token.Ceiling{Maxima: maxima}}
		for _, req := range []run.Request{{Script: run.Script{Source: "1"}}, {Command: run.Command{Args: []string{"ls"}}}, {Module: run.ModuleRun{Module: anyModule{}}}} {
			got, err := s.permit(who, req)
			if err != nil {
				t.Errorf("maxima.%s, %+v: %v", fields.Field(i).Name, req, err)
			} else if err := got.Validate(); err != nil {
				t.Errorf("maxima.%s, %+v: %v", fields.Field(i).Name, req, err)
			}
		}
	}
}

func TestPermitHook(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trust   policy.Trust // the policy's
		ceiling token.Ceiling
		hook    run.HookSpec
		want    run.HookSpec
		class   run.Class
	}{
		{name: "no ceiling changes nothing", hook: run.HookSpec{Script: "1"}, want: run.HookSpec{Script: "1"}},
		{name: "no script, which the Runner refuses"},
		{name: "too many workers", hook: run.HookSpec{Script: "1", Workers: maxWorkers + 1}, class: run.Invalid},
		{name: "a process for each call", ceiling: ceilingOf(policy.TierProcess), hook: run.HookSpec{Script: "1"}, want: run.HookSpec{Script: "1"}},
		{name: "the same, said", ceiling: ceilingOf(policy.TierProcess), hook: run.HookSpec{Script: "1", Trust: policy.TrustUser}, want: run.HookSpec{Script: "1", Trust: policy.TrustUser}},
		{name: "no processes", ceiling: ceilingOf(policy.TierHook), hook: run.HookSpec{Script: "1"}, class: run.Forbidden},
		{name: "platform, which the operator has not said", hook: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}, class: run.Forbidden},
		{name: "nor by a token: it widens nothing", ceiling: ceilingOf(policy.TierHook), hook: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}, class: run.Forbidden},
		{name: "nor by a policy for strangers", trust: policy.TrustThirdParty, hook: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}, class: run.Forbidden},
		{name: "platform, by the policy", trust: policy.TrustPlatform, hook: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}, want: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}},
		{name: "and by the token", trust: policy.TrustPlatform, ceiling: ceilingOf(policy.TierHook), hook: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}, want: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}},
		{name: "but not by the token", trust: policy.TrustPlatform, ceiling: ceilingOf(policy.TierProcess), hook: run.HookSpec{Script: "1", Trust: policy.TrustPlatform}, class: run.Forbidden},
		{name: "a policy does not say it for the caller", trust: policy.TrustPlatform, hook: run.HookSpec{Script: "1"}, want: run.HookSpec{Script: "1"}},
		{name: "no tier for it", ceiling: ceilingOf(policy.TierWasm), hook: run.HookSpec{Script: "1"}, class: run.Forbidden},
		{name: "above the ceiling", ceiling: token.Ceiling{Maxima: policy.Limits{Memory: policy.MiB}}, hook: run.HookSpec{Script: "1", Limits: policy.Limits{Memory: 2 * policy.MiB}}, class: run.Invalid},
		{name: "the defaults are those of a call", ceiling: token.Ceiling{Maxima: policy.Limits{CPUTime: 2 * second, WallTime: 10 * second}}, hook: run.HookSpec{Script: "1"},
			want: run.HookSpec{Script: "1", Limits: func() policy.Limits {
				l := policy.DefaultLimits()
				l.WallTime, l.CPUTime = 5*second, 2*second
				return l
			}()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newService(t, Options{Policy: policy.Policy{Trust: tt.trust}}).permitHook(token.Caller{Name: "alice", Ceiling: tt.ceiling}, tt.hook)
			if tt.class != "" {
				if err == nil || run.ClassOf(err) != tt.class {
					t.Errorf("error %v; want %s", err, tt.class)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestWorkspaces(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	offered, outside := filepath.Join(dir, "offered"), filepath.Join(dir, "offered-not")
	for _, directory := range []string{filepath.Join(offered, "a", "b"), outside} {
		if err := os.MkdirAll(directory, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": filepath.Join(offered, "a"), "out": outside, "up": "../..", "nowhere": "/none"} {
		if err := os.Symlink(to, filepath.Join(offered, link)); err != nil {
			t.Fatal(err)
		}
	}
	entrance := filepath.Join(dir, "entrance")
	if err := os.Symlink(offered, entrance); err != nil {
		t.Fatal(err)
	}
	s := newService(t, Options{Commands: true, Workspaces: []string{entrance}})
	for _, tt := range []struct{ name, directory, want string }{
		{"none", "", ""},
		{"the offered one", offered, offered},
		{"by the operator's name for it", entrance, offered},
		{"one in it", offered + "/a", filepath.Join(offered, "a")},
		{"deep in it", entrance + "/a/b/", filepath.Join(offered, "a", "b")},
		{"there and back", offered + "/a/../a", filepath.Join(offered, "a")},
		{"a link that stays inside", offered + "/in", filepath.Join(offered, "a")},
		{"a link that leads out", offered + "/out", "refused"},
		{"a link that leads up", offered + "/up", "refused"},
		{"a link to nowhere", offered + "/nowhere", "refused"},
		{"up", offered + "/..", "refused"},
		{"up from a link", offered + "/in/../..", "refused"},
		{"a neighbour whose name begins alike", outside, "refused"},
		{"the root", "/", "refused"},
		{"relative", ".", "refused"},
		{"not there", offered + "/none", "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := s.permit(alice, run.Request{Command: run.Command{Args: []string{"ls"}, Workspace: tt.directory}})
			if tt.want == "refused" {
				if run.ClassOf(err) != run.Forbidden || !strings.Contains(err.Error(), "is not one that the operator offers") {
					t.Errorf("%q: error %v", req.Command.Workspace, err)
				}
			} else if err != nil || req.Command.Workspace != tt.want || req.Command.WorkspaceExact != (tt.want != "") {
				t.Errorf("%q: error %v", req.Command.Workspace, err)
			}
		})
	}
	if _, err := newService(t, Options{Commands: true}).permit(alice, run.Request{Command: run.Command{Args: []string{"ls"}, Workspace: dir}}); run.ClassOf(err) != run.Forbidden {
		t.Errorf("a directory, although none is offered: %v", err)
	}
}

func TestInfo(t *testing.T) {
	s := newService(t, Options{Version: "1", Commands: true, Policy: policy.Policy{AllowNet: []string{"example.com"}}})
	all := s.Info(alice)
	if len(all.Tiers) != 3 || !all.Commands || all.Restricted || all.Limits != policy.DefaultLimits() || all.Maxima != policy.DefaultMaxima() ||
		len(all.Modules) == 0 || len(all.Hosts) != 1 || all.Version != "1" || all.Enforcement.Tier != policy.TierProcess {
		t.Errorf("%+v", all)
	}
	few := s.Info(token.Caller{Ceiling: token.Ceiling{
		Maxima: policy.Limits{Memory: 64 * policy.MiB}, Tiers: []policy.Tier{policy.TierGVisor, policy.TierProcess}, Restricted: true,
	}})
	limits, maxima := policy.DefaultLimits(), policy.DefaultMaxima()
	limits.Memory, maxima.Memory = 64*policy.MiB, 64*policy.MiB
	if diff := cmp.Diff([]policy.Tier{policy.TierProcess}, few.Tiers); few.Commands || !few.Restricted || few.Limits != limits || few.Maxima != maxima || diff != "" {
		t.Errorf("%+v", few)
	}
	if s.Info(token.Caller{Ceiling: ceilingOf(policy.TierProcess)}).Commands {
		t.Error("commands without a tier that runs them")
	}
}

func TestInfoSaysWhatIsPermitted(t *testing.T) {
	s := newService(t, Options{Commands: true})
	for _, ceiling := range []token.Ceiling{{}, ceilingOf(policy.TierProcess), ceilingOf(policy.TierJail), {ScriptsOnly: true}, {Restricted: true}} {
		who := token.Caller{Name: "alice", Ceiling: ceiling}
		_, err := s.permit(who, run.Request{Command: run.Command{Args: []string{"ls"}}})
		if s.Info(who).Commands != (err == nil) {
			t.Errorf("%+v: %v", ceiling, errors.Unwrap(err))
		}
	}
}

// anyModule is a module that is never run.
type anyModule struct{ run.Module }
