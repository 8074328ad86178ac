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
func account(res run.Result, hidden error) []notice {
	var all []notice
	add := func(heading, format string, args ...any) {
		all = append(all, infof(heading, format, args...))
	}
	if used := res.Usage.Amounts(); len(used) > 0 {
		add("used", "%s", strings.Join(used, ", "))
	}
	if hidden != nil {
		add("workspace", "none; %v", hidden)
	}
	for _, t := range res.Traffic {
		by := ""
		if t.Module != "" {
			by = ", by module " + t.Module
		}
		add("traffic", "%s port %d, %s, %s sent, %s received%s",
			t.Host, t.Port, countOf(t.Connections, "connection"), t.Sent.Rounded(), t.Received.Rounded(), by)
	}
	for _, m := range res.Modules {
		add("module", "%s opened %s and started %s", m.Module, countOf(len(m.Files)+m.Omitted, "file"), countOf(m.Threads, "thread"))
	}
	if tier := res.Enforcement.ThirdParty; tier != "" {
		add("trust", "third-party code ran on tier %s, which only the policy's third_party allows", tier)
	}
	for _, wall := range slices.Concat(policy.Walls(), policy.OtherWalls()) {
		if state, known := res.Enforcement.Walls[wall]; known {
			add("wall", "%s is %s", wall, state)
		}
	}
	return all
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
