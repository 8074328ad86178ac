package jobobject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

// checkProgram refuses programs that Windows runs with another one. cmd.exe runs batch files and
// parses the arguments by other rules, so that an argument could be a second command.
func checkProgram(path string) error {
	// The system drops dots and blanks at the end of a name.
	name := strings.ToLower(strings.TrimRight(path, ". "))
	for _, end := range []string{".bat", ".cmd"} {
		if strings.HasSuffix(name, end) {
			return fmt.Errorf("%s is run by cmd.exe, which would parse its arguments again: name cmd.exe and its arguments explicitly", filepath.Base(path))
		}
	}
	return nil
}

// environmentBlock encodes an environment for CreateProcess: sorted without regard to case, a
// zero after each variable, and another at the end.
func environmentBlock(variables []string) ([]uint16, error) {
	sorted := slices.Clone(variables)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return strings.Compare(strings.ToUpper(nameOf(a)), strings.ToUpper(nameOf(b)))
	})
	var block []uint16
	for _, variable := range sorted {
		if strings.ContainsRune(variable, 0) || nameOf(variable) == "" {
			return nil, fmt.Errorf("%q is not an environment variable: write NAME=VALUE, without zero bytes", variable)
		}
		block = append(block, utf16.Encode([]rune(variable))...)
		block = append(block, 0)
	}
	if len(block) == 0 {
		block = append(block, 0)
	}
	return append(block, 0), nil
}

func nameOf(variable string) string {
	name, _, found := strings.Cut(variable, "=")
	if !found {
		return ""
	}
	return name
}
