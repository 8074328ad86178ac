// Package tiers lists the tiers. To add one, write its package, name it in policy/tier.go
// and register it here.
package tiers

import (
	"context"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/gvisor"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/backend/process"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/policy"
)

// All returns the tiers, the weakest first.
func All() backend.Tiers {
	return backend.Tiers{
		{
			// Hooks are opened, not run; see process. One worker serves many calls, and a
			// call finds what an earlier one left there. So this tier is only for platform
			// code.
			Name: policy.TierHook, Runs: []policy.Guest{policy.GuestCall}, Trust: policy.TrustPlatform,
			Offers: []backend.Feature{backend.ModuleRules},
			Within: policy.TierProcess,
		},
		{
			Name: policy.TierProcess, Runs: []policy.Guest{policy.GuestScript, policy.GuestCall}, Trust: policy.TrustUser,
			Offers: []backend.Feature{backend.Hooks, backend.Checks, backend.Sessions, backend.Files, backend.ModuleRules},
			Start:  started(startProcess),
		},
		{
			// Strong enough for user code: the guest has no system calls. Not for third-party
			// code: it runs in the Runner's own process, where no kernel wall contains a bug of
			// the compiler.
			Name: policy.TierWasm, Runs: []policy.Guest{policy.GuestScript, policy.GuestModule}, ByName: []policy.Guest{policy.GuestScript}, Trust: policy.TrustUser,
			Offers: []backend.Feature{backend.Modules, backend.Sessions, backend.Files, backend.Snapshots, backend.Tools, backend.Determinism},
			Start:  started(startWasm),
		},
		{
			Name: policy.TierJail, Runs: []policy.Guest{policy.GuestCommand}, Trust: policy.TrustThirdParty,
			Start: started(startJail),
		},
		{
			Name: policy.TierGVisor, Runs: []policy.Guest{policy.GuestScript, policy.GuestCommand}, Trust: policy.TrustThirdParty,
			Lacks: gvisor.Lacks,
			Start: started(startGVisor),
		},
	}
}

func startProcess(ctx context.Context, o backend.Options) (*process.Backend, error) {
	return process.New(ctx, process.Options{
		Policy: o.Policy, Idle: o.Idle, Load: o.Load, OneShot: o.OneShot, Language: o.Language, Workspaces: o.Workspaces,
	})
}

func startWasm(_ context.Context, o backend.Options) (*wasm.Backend, error) {
	return wasm.New(wasm.Options{Policy: o.Policy, Idle: o.Idle, Load: o.Load, OneShot: o.OneShot})
}

func startJail(_ context.Context, o backend.Options) (*jail.Backend, error) {
	return jail.New(jail.Options{Policy: o.Policy, Load: o.Load, OneShot: o.OneShot})
}

func startGVisor(ctx context.Context, o backend.Options) (*gvisor.Backend, error) {
	return gvisor.New(ctx, gvisor.Options{Policy: o.Policy, Load: o.Load, OneShot: o.OneShot, Workspaces: o.Workspaces})
}

// started returns a Start for a constructor. After an error it returns a nil interface; a
// nil pointer in an interface would not be nil.
func started[B backend.Backend](start func(context.Context, backend.Options) (B, error)) func(context.Context, backend.Options) (backend.Backend, error) {
	return func(ctx context.Context, o backend.Options) (backend.Backend, error) {
		b, err := start(ctx, o)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}
