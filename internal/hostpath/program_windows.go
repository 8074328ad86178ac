package hostpath

import (
	"os"
	"path/filepath"
	"strings"
)

// follow does not tell of links: making one takes a privilege here, which
// guests do not have.
func follow(name string) (Program, error) {
	real, err := filepath.EvalSymlinks(name)
	return Program{Path: real}, err
}

func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && strings.EqualFold(filepath.Ext(name), ".exe")
}

// fold gives equal names the same letters.
func fold(name string) string { return strings.ToLower(name) }
