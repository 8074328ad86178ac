// Package tiers lists the tiers. To add one, write its package, name it in policy/tier.go
// and register it here.
package tiers

import (
	"context"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/jail"
	"github.com/cordon-sandbox/cordon/internal/backend/process"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm"
	"github.com/cordon-sandbox/cordon/policy"
)

// All gives the tiers, the weakest first.
func All() backend.Tiers {
	return backend.Tiers{
		{
			// Opened, never run: see process. One worker serves many calls, and what one
			// call leaves there the next one finds. So it is for platform code alone.
			Name: policy.TierHook, Trust: policy.TrustPlatform,
		},
		{
			Name: policy.TierProcess, Runs: []policy.Guest{policy.GuestScript}, Trust: policy.TrustUser,
			Offers: []backend.Feature{backend.Hooks, backend.Checks},
			Start:  started(startProcess),
		},
		{
			// Enough for user code: such a guest has no system calls at all. Not for
			// third-party code: it runs inside the Runner's own process, and no kernel wall
			// stands behind a bug of the compiler.
			Name: policy.TierWasm, Runs: []policy.Guest{policy.GuestScript, policy.GuestModule}, ByName: []policy.Guest{policy.GuestScript}, Trust: policy.TrustUser,
			Offers: []backend.Feature{backend.Modules, backend.Sessions, backend.Tools, backend.Determinism},
			Start:  started(startWasm),
		},
		{
			Name: policy.TierJail, Runs: []policy.Guest{policy.GuestCommand}, Trust: policy.TrustThirdParty,
			Start: started(startJail),
		},
		{
			Name: policy.TierGVisor, Runs: []policy.Guest{policy.GuestScript, policy.GuestCommand}, Trust: policy.TrustThirdParty,
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

// started gives a Start for a constructor. After an error there is no backend: a nil
// pointer in an interface would look like one.
func started[B backend.Backend](start func(context.Context, backend.Options) (B, error)) func(context.Context, backend.Options) (backend.Backend, error) {
	return func(ctx context.Context, o backend.Options) (backend.Backend, error) {
		b, err := start(ctx, o)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}
