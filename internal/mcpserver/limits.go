package mcpserver

import (
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// agentUnit returns how an agent gives a limit: the JSON type, the unit, and the smallest
// amount.
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

// unitSize returns the size of the agent's unit, in the unit of policy.Limits.
func unitSize(l policy.Limit) float64 {
	if l.Kind == policy.KindDuration {
		return float64(time.Second)
	}
	return float64(max(l.AgentUnit, 1))
}

// toAgent converts a limit to the agent's unit. Integers are rounded down.
func toAgent(l policy.Limit, limits policy.Limits) float64 {
	amount := float64(l.Of(limits)) / unitSize(l)
	if l.Kind != policy.KindDuration {
		amount = float64(int64(amount))
	}
	return amount
}

// toolLimits returns the limits of scripts and commands, which the tools run.
func toolLimits() []policy.Limit {
	return slices.DeleteFunc(policy.LimitTable(), func(l policy.Limit) bool {
		return !slices.Contains(l.For, policy.GuestScript) && !slices.Contains(l.For, policy.GuestCommand)
	})
}

// amountsOf returns limits by the names of arguments, in the agent's units.
func amountsOf(limits policy.Limits) map[string]float64 {
	amounts := map[string]float64{}
	for _, l := range toolLimits() {
		amounts[l.Argument()] = toAgent(l, limits)
	}
	return amounts
}

// limits returns the limits that a call sets. The others are 0, which means the operator's
// defaults.
func (a arguments) limits() (limits policy.Limits) {
	for _, l := range policy.LimitTable() {
		if amount, ok := a.numbers[l.Argument()]; ok {
			l.Set(&limits, int64(amount*unitSize(l)))
		}
	}
	return limits
}
