package cli

import (
	_ "embed"
	"strings"
)

// The environment variables of each program, a line each. A program does not know the flags
// of the other, and a variable that is meant for one must not be a typing error to the
// other. Tests of both programs write the lists: go test ./cmd/... -run Variable -update.
var (
	//go:embed variables_cordon.txt
	cordonVariables string
	//go:embed variables_cordond.txt
	cordondVariables string
)

// Variables gives the environment variables of both programs.
func Variables() []string { return strings.Fields(cordonVariables + cordondVariables) }
