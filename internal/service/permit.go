package service

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/internal/workdir"
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
		// The request may wait for its turn, and meanwhile other commands can create links
		// in their workspaces.
		req.Command.WorkspaceExact = req.Command.Workspace != ""
	} else {
		req.Script.Restricted = req.Script.Restricted || who.Ceiling.Restricted
		if req.Script.Files, err = s.permitFiles(req.Script.Files); err != nil {
			return req, err
		}
	}
	if req.Tier, err = s.permitTier(who, req); err != nil {
		return req, err
	}
	req.Limits, err = s.narrow(who, req.Limits, s.policy.Limits, func(l policy.Limits) policy.Limits { return applicable(req, l) })
	return req, err
}

// applicable returns l, without the limits that only modules have unless req runs a module.
// The maxima of a caller are for requests of every kind.
func applicable(req run.Request, l policy.Limits) policy.Limits {
	for _, limit := range policy.LimitTable() {
		if limit.OnlyFor(policy.GuestModule) && req.Kind() != policy.GuestModule {
			limit.Set(&l, 0)
		}
	}
	return l
}

// mayCommand reports whether a caller may run commands. A restricted caller may not: the
// language rules do not apply to a command.
func (s *Service) mayCommand(who token.Caller) bool {
	return s.Commands && !s.policy.Restricts() && !who.Ceiling.ScriptsOnly && !who.Ceiling.Restricted
}

// permitTier returns the tier of a request. If the caller has a ceiling, the tier is always
// set: the one that the Runner would choose need not be below the ceiling.
func (s *Service) permitTier(who token.Caller, req run.Request) (policy.Tier, error) {
	allowed := who.Ceiling.Tiers
	if len(allowed) == 0 {
		return req.Tier, nil
	}
	kind := req.Kind()
	able := tiers.All().For(kind)
	if _, err := policy.ParseTier(string(req.Tier)); err != nil {
		return req.Tier, nil // no tier has this name: the Runner returns the error
	}
	if req.Tier != "" {
		if !slices.Contains(allowed, req.Tier) {
			return "", run.Errorf(run.Forbidden, "tier %q is not allowed for %s: say one of %s", req.Tier, who.Name, listOf(allowed))
		}
		return req.Tier, nil
	}
	chosen, err := tiers.All().Select(backend.Ask{System: runtime.GOOS, Policy: s.policy, Guest: kind, Trust: req.Trust})
	if err != nil {
		return "", err
	}
	if slices.Contains(allowed, chosen.Tier) {
		return chosen.Tier, nil
	}
	for _, tier := range allowed {
		if slices.Contains(able, tier) {
			return tier, nil
		}
	}
	return "", run.Errorf(run.Forbidden, "%s is allowed no tier that runs %ss: %s would, and it has %s", who.Name, kind, listOf(able), listOf(allowed))
}

// permitHook narrows a hook to what its caller may open.
func (s *Service) permitHook(who token.Caller, h run.HookSpec) (permitted run.HookSpec, err error) {
	if h.Workers > maxWorkers {
		return h, run.Errorf(run.Invalid, "workers is %d, above the maximum of %d", h.Workers, maxWorkers)
	}
	// A caller of the service is not the operator, and cannot decide that calls share a
	// process.
	if h.Trust == policy.TrustPlatform && h.Trust.Exceeds(s.policy.Trust) {
		return h, run.Errorf(run.Forbidden, "trust %q is more than the policy grants: leave it out, or ask the operator to set trust: platform in the policy of the service", h.Trust)
	}
	if allowed := who.Ceiling.Tiers; len(allowed) > 0 {
		chosen, err := tiers.All().Select(backend.Ask{System: runtime.GOOS, Policy: s.policy, Guest: policy.GuestCall, Trust: h.Trust})
		if err != nil {
			return h, err
		}
		if !slices.Contains(allowed, chosen.Tier) {
			return h, run.Errorf(run.Forbidden, "a hook with trust %q needs tier %q, which is not allowed for %s: it has %s", chosen.Trust, chosen.Tier, who.Name, listOf(allowed))
		}
	}
	all := func(l policy.Limits) policy.Limits { return l }
	h.Limits, err = s.narrow(who, h.Limits, policy.DefaultCallLimits().Or(s.policy.Limits).Capped(s.policy.Limits), all)
	return h, err
}

// maxima returns the highest limits of a caller.
func (s *Service) maxima(who token.Caller) policy.Limits {
	return who.Ceiling.Maxima.Or(s.policy.Maxima).Capped(s.policy.Maxima)
}

// narrow returns the limits of a request: those that it sets, and for the rest the defaults,
// within the caller's maxima. applicable drops the defaults that do not apply to the request.
func (s *Service) narrow(who token.Caller, asked, defaults policy.Limits, applicable func(policy.Limits) policy.Limits) (policy.Limits, error) {
	if who.Ceiling.Maxima == (policy.Limits{}) {
		return asked, nil // the Runner applies the policy's limits
	}
	maxima := s.maxima(who)
	if field, got, limit, above := asked.Above(maxima); above {
		return asked, aboveMaximum(who, field, got, limit)
	}
	return asked.Fill(applicable(defaults.Capped(maxima)), maxima), nil
}

func aboveMaximum(who token.Caller, field, got, limit string) error {
	return run.Wrap(run.Invalid, &policy.FieldError{Field: "limits." + field, Err: fmt.Errorf("%v is above the maximum of %v for %s", got, limit, who.Name)})
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
	// A directory that does not exist gets the same message, so that callers cannot find
	// out which directories exist.
	return "", run.Errorf(run.Forbidden, "workspace %q is not one that the operator offers", directory)
}

// permitFiles checks the files that a request names on this machine. They must be below a
// directory that the operator opened to callers. No link leads out of it, now or when they are
// read.
func (s *Service) permitFiles(files []run.File) ([]run.File, error) {
	permitted := slices.Clone(files)
	for i, f := range files {
		if f.Path == "" {
			continue
		}
		root, inside, offered := s.offers(f.Path)
		if !offered {
			// A file that does not exist gets the same message, so that callers cannot find out
			// which files exist.
			err := fmt.Errorf("%q is not a file that the operator offers", f.Path)
			return nil, run.Wrap(run.Forbidden, &policy.FieldError{Field: fmt.Sprintf("files[%d].path", i), Err: err})
		}
		permitted[i].Root, permitted[i].Path = root, inside
	}
	return permitted, nil
}

// offers returns the one of the FileRoots that a file is below, and its path in there.
func (s *Service) offers(name string) (directory, inside string, offered bool) {
	for _, directory := range s.FileRoots {
		inside, err := filepath.Rel(directory, filepath.Clean(name))
		if err != nil || !filepath.IsLocal(inside) || !filepath.IsAbs(name) {
			continue
		}
		if f, err := workdir.OpenGiven(run.File{Path: inside, Root: directory}); err == nil {
			f.Close()
			return directory, inside, true
		}
	}
	return "", "", false
}

// withoutLinks resolves the links in the path of a directory, as permitWorkspace does for
// the directories below it. The path of a directory that does not exist yet is unchanged.
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
