package interpreter

import (
	"os"
	"slices"
	"strings"
)

// maxInstalled bounds the number of listed packages.
const maxInstalled = 1000

// Installed lists the installed packages by name and version. It only lists directories,
// whose names contain both; it reads no file and runs nothing.
func (i Interpreter) Installed() []string {
	installed := []string{}
	for _, dir := range i.Packages {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // packages in it cannot be imported either
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
