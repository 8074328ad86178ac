//go:build !windows

package interpreter

import (
	"path"

	"github.com/cordon-sandbox/cordon/run"
)

// appleStub is a program that only looks for the developer tools, and opens a window to
// install them where there are none. It must not be started to ask it anything.
const appleStub = "/usr/bin/python3"

// developerDirectories are where the tools may be: the one that xcode-select has chosen, and
// those that it would choose.
var developerDirectories = []string{
	"/private/var/db/xcode_select_link", "/Library/Developer/CommandLineTools", "/Applications/Xcode.app/Contents/Developer",
}

// behindStub gives the Python that macOS's stub stands for.
func (h *host) behindStub() (string, error) {
	for _, directory := range developerDirectories {
		if python := path.Join(directory, appleStub); isExecutable(h.fsys, python) {
			return python, nil
		}
	}
	return "", run.Errorf(run.NotFound, "%s is a stub of macOS, and the developer tools behind it are not installed: "+
		"xcode-select --install brings them; a Python of python.org, Homebrew or pyenv does as well", appleStub)
}

// usualDirectories are where to look where PATH has nothing.
func (h *host) usualDirectories() []string {
	if h.system != "darwin" {
		return usual
	}
	// The stub is the last.
	return []string{"/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin", "/usr/bin"}
}
