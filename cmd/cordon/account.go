package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// account returns the lines of --verbose: what a run used, which hosts it reached, and
// which walls stood.
func account(res run.Result, hidden error) []string {
	var lines []string
	if used := res.Usage.Amounts(); len(used) > 0 {
		lines = append(lines, "used: "+strings.Join(used, ", "))
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

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
