package backend

import (
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// NotStarted is the Result of a command that was refused before anything of it ran.
func NotStarted(violations []run.Violation) run.Result {
	var reasons []string
	for i := range violations {
		violations[i].Count = max(1, violations[i].Count)
		reasons = append(reasons, fmt.Sprintf("%s: %s", violations[i].Op, violations[i].Detail))
	}
	return run.Result{
		Status: run.Refused.Status(), Outcome: run.Refused, ErrorType: run.Refused.ErrorType(),
		Error:      "the command was not started: " + strings.Join(reasons, "; "),
		Violations: violations,
	}
}
