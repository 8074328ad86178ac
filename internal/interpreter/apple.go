//go:build !windows

package interpreter

import (
	"path"

	"github.com/cordon-sandbox/cordon/run"
)

// appleStub is a program that starts the Python of the developer tools, or opens a window
// to install them. Cordon must not start it.
const appleStub = "/usr/bin/python3"

// developerDirectories are the directories of the tools: the one that xcode-select has
// chosen, then those that it would choose.
var developerDirectories = []string{
	"/private/var/db/xcode_select_link", "/Library/Developer/CommandLineTools", "/Applications/Xcode.app/Contents/Developer",
}

// behindStub returns the Python that macOS's stub would start.
func (h *host) behindStub() (string, error) {
	for _, directory := range developerDirectories {
		if python := path.Join(directory, appleStub); isExecutable(h.fsys, python) {
			return python, nil
		}
	}
	return "", run.Errorf(run.NotFound, "%s is a stub of macOS, and the developer tools that it starts are not installed: "+
		"run xcode-select --install, or install a Python of python.org, Homebrew or pyenv", appleStub)
}

// usualDirectories returns the directories to search if PATH has no Python.
func (h *host) usualDirectories() []string {
	if h.system != "darwin" {
		return usualDirs
	}
	// The stub comes last.
	return []string{"/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin", "/usr/bin"}
}
