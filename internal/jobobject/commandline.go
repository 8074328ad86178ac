package jobobject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

// checkProgram refuses what Windows would give to another program. A batch file is run by
// cmd.exe, which reads the arguments by rules of its own, so that one of them could be a
// second command.
func checkProgram(path string) error {
	// Dots and blanks at the end of a name are dropped by the system.
	name := strings.ToLower(strings.TrimRight(path, ". "))
	for _, end := range []string{".bat", ".cmd"} {
		if strings.HasSuffix(name, end) {
			return fmt.Errorf("%s is run by cmd.exe, which would read its arguments anew: name cmd.exe and its arguments yourself", filepath.Base(path))
		}
	}
	return nil
}

// environmentBlock writes an environment as CreateProcess takes it: sorted without regard
// to case, each variable ended by a zero, all of it by one more.
func environmentBlock(variables []string) ([]uint16, error) {
	sorted := slices.Clone(variables)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return strings.Compare(strings.ToUpper(nameOf(a)), strings.ToUpper(nameOf(b)))
	})
	var block []uint16
	for _, variable := range sorted {
		if strings.ContainsRune(variable, 0) || nameOf(variable) == "" {
			return nil, fmt.Errorf("%q is no variable of an environment: it must be NAME=VALUE, without zero bytes", variable)
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
