package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Main runs a program: the command that its arguments ask for. It gives the exit code.
// Both programs are cordon to who reads what they say.
func Main(rootFor func(args []string) *cobra.Command) int {
	ctx, stop := SignalContext()
	defer stop(nil)
	err := rootFor(os.Args[1:]).ExecuteContext(ctx)
	code := ExitCodeOf(ctx, err)
	if message := MessageOf(ctx, err); message != "" {
		for line := range strings.SplitSeq(message, "\n") {
			fmt.Fprintln(os.Stderr, "cordon: "+line)
		}
	}
	return code
}
