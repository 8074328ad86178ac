package hostpath

import (
	"os"
	"path/filepath"
	"strings"
)

// follow returns no links: on Windows, creating one needs a privilege that guests do not
// have.
func follow(name string) (Program, error) {
	real, err := filepath.EvalSymlinks(name)
	return Program{Path: real}, err
}

func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && strings.EqualFold(filepath.Ext(name), ".exe")
}

// fold returns the same text for names of the same file.
func fold(name string) string { return strings.ToLower(name) }
