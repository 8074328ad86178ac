package jobobject

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Access is what a program may access in addition to the system's files.
type Access struct {
	Read, Write []string // absolute paths of files, and of directories with their contents
	Network     bool     // any network except the host's own addresses
}

// outermost drops paths inside others of the same list, because rights are inherited.
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

// readCapability and writeCapability return the name of the capability with which a container
// may open a path. The name contains the path, so that it opens no other one, and an entry
// that stays in the rights of a directory is useful only to runs with the same grant.
func readCapability(path string) string  { return "cordonRead:" + strings.ToLower(path) }
func writeCapability(path string) string { return "cordonWrite:" + strings.ToLower(path) }

// networkCapabilities are Windows' capabilities for the internet, as client and as server, and
// for private networks. None includes the host itself.
var networkCapabilities = []string{"S-1-15-3-1", "S-1-15-3-2", "S-1-15-3-3"}

// capabilities lists the capabilities of a container with this access.
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

// The name of a container includes the process that made it, so that the containers of a
// killed cordon can be found and removed.
const containerPrefix = "cordon-"

func containerName(pid int, random string) string {
	return fmt.Sprintf("%s%d-%s", containerPrefix, pid, random)
}

// makerOf returns the process that made a container.
func makerOf(name string) (pid int, ours bool) {
	rest, ours := strings.CutPrefix(name, containerPrefix)
	if !ours {
		return 0, false
	}
	number, random, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return pid, err == nil && random != ""
}
