package interpreter

import (
	"os"
	"slices"
	"strings"
)

// maxInstalled bounds the packages that are listed.
const maxInstalled = 1000

// Installed lists the packages beside this interpreter, by name and version, as the names
// of their directories say: nothing is read, and nothing is run.
func (i Interpreter) Installed() []string {
	installed := []string{}
	for _, dir := range i.Packages {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it cannot be imported from either
		}
		for _, entry := range entries {
			what, isPackage := strings.CutSuffix(entry.Name(), ".dist-info")
			name, version, _ := strings.Cut(what, "-")
			if isPackage && len(installed) < maxInstalled {
				installed = append(installed, name+" "+version)
			}
		}
	}
	slices.Sort(installed)
	return slices.Compact(installed)
}
