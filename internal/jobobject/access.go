package jobobject

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Access is what a program may reach beside the system's own files.
type Access struct {
	Read, Write []string // absolute paths of files and directories, with all that is in them
	Network     bool     // any network but that of the host itself
}

// outermost leaves out what lies in others of the same list: they inherit its rights.
func outermost(paths []string) []string {
	var all []string
	for _, path := range paths {
		inside := func(other string) bool { return isBelow(path, other) }
		if !slices.ContainsFunc(paths, inside) && !slices.ContainsFunc(all, func(other string) bool { return strings.EqualFold(path, other) }) {
			all = append(all, path)
		}
	}
	return all
}

func isBelow(path, directory string) bool {
	directory = strings.TrimRight(directory, `\/`) + `\`
	return len(path) > len(directory) && strings.EqualFold(path[:len(directory)], directory)
}

// readCapability and writeCapability name what a container holds that may open a path.
// The path is in the name: whoever may read one directory cannot read another, and what
// stays in the rights of a directory is of use only to a run that was granted it again.
func readCapability(path string) string  { return "cordonRead:" + strings.ToLower(path) }
func writeCapability(path string) string { return "cordonWrite:" + strings.ToLower(path) }

// networkCapabilities are those of Windows for the internet, as client and as server, and
// for the network at home or at work. None is for the host itself.
var networkCapabilities = []string{"S-1-15-3-1", "S-1-15-3-2", "S-1-15-3-3"}

// capabilities lists what a container with this access holds.
func (a Access) capabilities() []string {
	var sids []string
	for _, path := range outermost(a.Read) {
		sids = append(sids, CapabilitySID(readCapability(path)))
	}
	for _, path := range outermost(a.Write) {
		sids = append(sids, CapabilitySID(writeCapability(path)))
	}
	if a.Network {
		sids = append(sids, networkCapabilities...)
	}
	return sids
}

// A container's name tells who made it, so that what a killed cordon left behind can be
// found and removed.
const containerPrefix = "cordon-"

func containerName(pid int, random string) string {
	return fmt.Sprintf("%s%d-%s", containerPrefix, pid, random)
}

// makerOf reads the process that made a container.
func makerOf(name string) (pid int, ours bool) {
	rest, ours := strings.CutPrefix(name, containerPrefix)
	if !ours {
		return 0, false
	}
	number, random, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return pid, err == nil && random != ""
}
