package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// account tells what --verbose asks for: what a run used, whom it talked to, and
// which walls stood.
func account(res run.Result, hidden error) []string {
	var lines []string
	if u := res.Usage; u != (run.Usage{}) {
		lines = append(lines, fmt.Sprintf("used: %v of time, %v of CPU time, %s of memory, %s of output",
			rounded(u.WallTime), rounded(u.CPUTime), u.Memory.Rounded(), u.Output.Rounded()))
	}
	if res.Usage.Fuel > 0 {
		lines = append(lines, fmt.Sprintf("used: %d instructions", int64(res.Usage.Fuel)))
	}
	if hidden != nil {
		lines = append(lines, "workspace: none; "+oneLine(hidden.Error()))
	}
	for _, t := range res.Traffic {
		lines = append(lines, oneLine(fmt.Sprintf("traffic: %s port %d, %s, %s sent, %s received",
			t.Host, t.Port, countOf(t.Connections, "connection"), t.Sent.Rounded(), t.Received.Rounded())))
	}
	for _, wall := range slices.Concat(policy.Walls(), policy.OtherWalls()) {
		if state, known := res.Enforcement.Walls[wall]; known {
			lines = append(lines, oneLine(fmt.Sprintf("wall: %s is %s", wall, state)))
		}
	}
	return lines
}

func rounded(d policy.Duration) policy.Duration {
	return policy.Duration(d.Std().Round(10 * time.Microsecond))
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
