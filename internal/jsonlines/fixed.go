package jsonlines

import (
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Fixed has the values that cordon was started with. A request may repeat them but not
// change them. A zero field leaves the choice to each request.
type Fixed struct {
	Tier          policy.Tier
	Trust         policy.Trust
	OnOutputLimit policy.OutputAction
	Restricted    bool
}

// needsProcess refuses features that only the process tier has.
func (f Fixed) needsProcess(what string) error {
	if f.Tier != "" && f.Tier != policy.TierProcess {
		return run.Errorf(run.Unsupported, "%s needs tier %q, and cordon was started with %q", what, policy.TierProcess, f.Tier)
	}
	return nil
}

// bind puts the fixed values into a request.
func (f Fixed) bind(req *run.Request) error {
	if f.Restricted && req.Kind() == policy.GuestCommand {
		return run.Errorf(run.Invalid, "cordon was started with --restricted: a command cannot go by the language rules, which are for scripts")
	}
	req.Script.Restricted = req.Script.Restricted || f.Restricted
	if err := repeat("tier", f.Tier, &req.Tier); err != nil {
		return err
	}
	if err := repeat("trust", f.Trust, &req.Trust); err != nil {
		return err
	}
	return repeat("on_output_limit", f.OnOutputLimit, &req.OnOutputLimit)
}

// bindSession puts them into the options of a session.
func (f Fixed) bindSession(o *run.SessionOptions) error {
	o.Restricted = o.Restricted || f.Restricted
	if err := repeat("tier", f.Tier, &o.Tier); err != nil {
		return err
	}
	return repeat("trust", f.Trust, &o.Trust)
}

func repeat[T ~string](name string, fixed T, field *T) error {
	switch {
	case fixed == "" || *field == fixed:
	case *field == "":
		*field = fixed
	default:
		return run.Errorf(run.Invalid, "%s %q is not what cordon was started with: %q", name, *field, fixed)
	}
	return nil
}
