package cli

import (
	"os"

	"golang.org/x/term"
)

// Width is how many characters fit on a line of f, or zero if f is not a terminal:
// programs and logs get each message on one line.
func Width(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
