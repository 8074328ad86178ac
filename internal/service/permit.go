package service

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// permit narrows a request to what its caller may ask for: within the caller's ceiling, and
// without what only callers on this machine may use. It does not validate the request, and
// removes nothing that the Runner would refuse: the Runner validates it.
func (s *Service) permit(who token.Caller, req run.Request) (permitted run.Request, err error) {
	if len(req.Command.Args) > 0 {
		if !s.mayCommand(who) {
			return req, run.Errorf(run.Forbidden, "commands are not allowed here: send a script")
		}
		if req.Command.Workspace, err = s.permitWorkspace(req.Command.Workspace); err != nil {
			return req, err
		}
		// It may wait for its turn, and commands can put links into their workspaces.
		req.Command.WorkspaceExact = req.Command.Workspace != ""
	} else {
		req.Script.Restricted = req.Script.Restricted || who.Ceiling.Restricted
	}
	if req.Tier, err = permitTier(who, req); err != nil {
		return req, err
	}
	req.Limits, err = s.narrow(who, req.Limits, s.policy.Limits, func(l policy.Limits) policy.Limits { return applicable(req, l) })
	return req, err
}

// applicable is l without the limits that only modules have, unless req is for one. The
// maxima of a caller are for requests of every kind.
func applicable(req run.Request, l policy.Limits) policy.Limits {
	for _, limit := range policy.LimitTable() {
		if limit.OnlyFor(policy.GuestModule) && req.Kind() != policy.GuestModule {
			limit.Set(&l, 0)
		}
	}
	return l
}

// mayCommand says whether somebody may run commands. A restricted caller may not: no
// language rules could hold one.
func (s *Service) mayCommand(who token.Caller) bool {
	return s.Commands && !s.policy.Restricts() && !who.Ceiling.ScriptsOnly && !who.Ceiling.Restricted
}

// permitTier gives the tier of a request. With a ceiling it is always said: what the
// Runner would choose by itself need not be below it.
func permitTier(who token.Caller, req run.Request) (policy.Tier, error) {
	allowed := who.Ceiling.Tiers
	if len(allowed) == 0 {
		return req.Tier, nil
	}
	kind := req.Kind()
	able := tiers.All().For(kind)
	if _, err := policy.ParseTier(string(req.Tier)); err != nil {
		return req.Tier, nil // no tier has this name: the Runner says so
	}
	if req.Tier != "" {
		if !slices.Contains(allowed, req.Tier) {
			return "", run.Errorf(run.Forbidden, "tier %q is not allowed for %s: say one of %s", req.Tier, who.Name, listOf(allowed))
		}
		return req.Tier, nil
	}
	if slices.Contains(allowed, able[0]) {
		return able[0], nil
	}
	for _, tier := range allowed {
		if slices.Contains(able, tier) {
			return tier, nil
		}
	}
	return "", run.Errorf(run.Forbidden, "%s is allowed no tier that runs %ss: %s would, and it has %s", who.Name, kind, listOf(able), listOf(allowed))
}

// permitHook gives a hook as it may be opened for somebody.
func (s *Service) permitHook(who token.Caller, h run.HookSpec) (permitted run.HookSpec, err error) {
	if h.Workers > mostWorkers {
		return h, run.Errorf(run.Invalid, "workers is %d, above the maximum of %d", h.Workers, mostWorkers)
	}
	// A caller of the service is not the operator, and cannot decide that calls share a
	// process.
	if h.Trust == policy.TrustPlatform && h.Trust.Exceeds(s.policy.Trust) {
		return h, run.Errorf(run.Forbidden, "trust %q is more than the policy grants: leave it out, or ask the operator to set trust: platform in the policy of the service", h.Trust)
	}
	if allowed := who.Ceiling.Tiers; len(allowed) > 0 {
		tier := policy.TierProcess
		if h.Trust == policy.TrustPlatform {
			tier = policy.TierHook
		}
		if !slices.Contains(allowed, tier) {
			return h, run.Errorf(run.Forbidden, "a hook with trust %q needs tier %q, which is not allowed for %s: it has %s", h.Trust.OrUser(), tier, who.Name, listOf(allowed))
		}
	}
	all := func(l policy.Limits) policy.Limits { return l }
	h.Limits, err = s.narrow(who, h.Limits, policy.DefaultCallLimits().Or(s.policy.Limits).Capped(s.policy.Limits), all)
	return h, err
}

// most is how far somebody's limits may go.
func (s *Service) most(who token.Caller) policy.Limits {
	return who.Ceiling.Maxima.Or(s.policy.Maxima).Capped(s.policy.Maxima)
}

// narrow gives the limits of somebody's request: what it asks for, and for the rest the
// defaults, within what they may have. applicable drops the defaults that mean nothing for
// the request.
func (s *Service) narrow(who token.Caller, asked, defaults policy.Limits, applicable func(policy.Limits) policy.Limits) (policy.Limits, error) {
	if who.Ceiling.Maxima == (policy.Limits{}) {
		return asked, nil // the Runner knows the policy's
	}
	most := s.most(who)
	if field, got, limit, above := asked.Above(most); above {
		return asked, run.Wrap(run.Invalid, &policy.FieldError{Field: "limits." + field, Err: fmt.Errorf("%v is above the maximum of %v for %s", got, limit, who.Name)})
	}
	return asked.Fill(applicable(defaults.Capped(most)), most), nil
}

// permitWorkspace returns the real path of a directory that the operator opened to callers.
// A remote caller must not choose any directory of this machine.
func (s *Service) permitWorkspace(directory string) (string, error) {
	if directory == "" {
		return "", nil
	}
	if real, err := filepath.EvalSymlinks(directory); err == nil && filepath.IsAbs(real) {
		for _, root := range s.roots {
			if inside, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(inside) {
				return real, nil
			}
		}
	}
	// The same words for what is not there: nobody learns which directories are.
	return "", run.Errorf(run.Forbidden, "workspace %q is not one that the operator offers", directory)
}

// withoutLinks is the path of a directory as permitWorkspace sees those below it. That of one
// which is not there yet stays as it is.
func withoutLinks(directory string) string {
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		return real
	}
	return filepath.Clean(directory)
}

func listOf[T ~string](of []T) string {
	var words []string
	for _, one := range of {
		words = append(words, string(one))
	}
	return strings.Join(words, ", ")
}
