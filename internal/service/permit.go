package service

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// permit gives a request as it may be run for somebody: within their ceiling, and with
// nothing that only who is on this machine may ask for.
func (s *Service) permit(who token.Caller, req run.Request) (run.Request, error) {
	if err := req.Validate(); err != nil {
		return req, err
	}
	if len(req.Command) > 0 {
		if !s.Commands || who.Ceiling.ScriptsOnly {
			return req, run.Errorf(run.Forbidden, "commands are not allowed here: send a script")
		}
		if err := s.permitWorkspace(req.Workspace); err != nil {
			return req, err
		}
	}
	if len(who.Ceiling.Tiers) > 0 {
		switch {
		case req.Tier != "" && !slices.Contains(who.Ceiling.Tiers, req.Tier):
			return req, run.Errorf(run.Forbidden, "tier %q is not allowed for %s: %s", req.Tier, who.Name, listOf(who.Ceiling.Tiers))
		case req.Tier == "" && len(req.Command) == 0 && !slices.Contains(who.Ceiling.Tiers, policy.TierProcess):
			req.Tier = who.Ceiling.Tiers[0]
		}
	}
	req.Restricted = req.Restricted || who.Ceiling.Restricted && len(req.Command) == 0
	var err error
	req.Limits, err = s.narrow(who, req.Limits)
	return req, err
}

// narrow gives the limits of somebody's request: what it asks for, within what they may
// have.
func (s *Service) narrow(who token.Caller, asked policy.Limits) (policy.Limits, error) {
	if who.Ceiling.Maxima == (policy.Limits{}) {
		return asked, nil
	}
	if field, got, most, above := asked.Above(who.Ceiling.Maxima); above {
		return asked, run.Errorf(run.Invalid, "limits.%s is %v, above the maximum of %v for %s", field, got, most, who.Name)
	}
	return asked.Or(s.Policy.Resolved().Limits.Capped(who.Ceiling.Maxima)), nil
}

// permitWorkspace: whoever asks from elsewhere must not name any folder of this machine.
func (s *Service) permitWorkspace(folder string) error {
	if folder == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(folder)
	if err == nil {
		for _, root := range s.Workspaces {
			if inside, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(inside) {
				return nil
			}
		}
	}
	// The same words for what is not there: nobody learns which folders are.
	return run.Errorf(run.Forbidden, "workspace %q is not one that the operator offers", folder)
}

func listOf[T ~string](of []T) string {
	var words []string
	for _, one := range of {
		words = append(words, string(one))
	}
	return strings.Join(words, ", ")
}
