package mcpserver

import (
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// agentUnit says in what an agent counts a limit: as which type, in which unit, and from
// which amount on.
func agentUnit(l policy.Limit) (kind, unit string, least float64) {
	switch {
	case l.Kind == policy.KindDuration:
		return "number", "seconds", 0.001
	case l.Kind != policy.KindBytes:
		return "integer", l.Argument(), 1
	case l.AgentUnit == policy.MiB:
		return "integer", "MiB", 1
	}
	return "integer", "bytes", 1
}

// unitSize is what one of the agent's units is.
func unitSize(l policy.Limit) float64 {
	if l.Kind == policy.KindDuration {
		return float64(time.Second)
	}
	return float64(max(l.AgentUnit, 1))
}

// toAgent gives a limit as an agent counts it. What is a whole number there is rounded down.
func toAgent(l policy.Limit, limits policy.Limits) float64 {
	amount := float64(l.Of(limits)) / unitSize(l)
	if l.Kind != policy.KindDuration {
		amount = float64(int64(amount))
	}
	return amount
}

// toolLimits are those of what the tools run: scripts and commands.
func toolLimits() []policy.Limit {
	return slices.DeleteFunc(policy.LimitTable(), func(l policy.Limit) bool {
		return !slices.Contains(l.For, policy.GuestScript) && !slices.Contains(l.For, policy.GuestCommand)
	})
}

// amountsOf gives limits as an agent counts them.
func amountsOf(limits policy.Limits) map[string]float64 {
	amounts := map[string]float64{}
	for _, l := range toolLimits() {
		amounts[l.Argument()] = toAgent(l, limits)
	}
	return amounts
}

// limits gives what a call asks for; what it leaves out is the operator's default.
func (a arguments) limits() (limits policy.Limits) {
	for _, l := range policy.LimitTable() {
		if amount, said := a.numbers[l.Argument()]; said {
			l.Set(&limits, int64(amount*unitSize(l)))
		}
	}
	return limits
}
