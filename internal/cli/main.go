package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// Indent begins the lines of a message after its first, below the text behind "cordon: ".
const Indent = "        "

// Main runs a program: the command that its arguments ask for. It returns the exit code.
// Both programs call themselves cordon.
func Main(rootFor func(args []string) *cobra.Command) int {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(ReadVersion())
		return 0
	}
	ctx, stop := SignalContext()
	defer stop(nil)
	err := rootFor(os.Args[1:]).ExecuteContext(ctx)
	code := ExitCodeOf(ctx, err)
	if message := MessageOf(ctx, err); message != "" {
		for line := range strings.SplitSeq(message, "\n") {
			fmt.Fprintln(os.Stderr, text.Wrap("cordon: "+line, Width(os.Stderr), Indent))
		}
	}
	return code
}
