package files

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
)

// A script has its own /tmp. Grants below the host's /tmp are mounted at their paths, which is
// enough to open them. To be listed, they also need a name in the script's /tmp, and the
// directories above them.

// parent is a directory in /tmp that contains only the path to grants.
type parent struct {
	at string
	fs sys.FS
}

// parentsOf returns the parents that the mounts need.
func parentsOf(mounts []string) (parents []parent) {
	trees := map[string]tree{}
	for _, mount := range mounts {
		top, deeper := topInScratch(mount)
		if deeper == "" || slices.Contains(mounts, path.Join(ScratchDirectory, top)) {
			continue
		}
		if trees[top] == nil {
			trees[top] = newTree()
		}
		trees[top].directory(deeper)
	}
	for _, top := range slices.Sorted(maps.Keys(trees)) {
		parents = append(parents, parent{path.Join(ScratchDirectory, top), readOnlyTree(trees[top])})
	}
	return parents
}

// topInScratch splits the path of a mount in /tmp into its name there and the rest.
func topInScratch(mount string) (top, deeper string) {
	rest, inside := strings.CutPrefix(mount, ScratchDirectory+"/")
	if !inside {
		return "", ""
	}
	top, deeper, _ = strings.Cut(rest, "/")
	return top, deeper
}

// NewScratch returns a /tmp with the names of the mounts in it. Its size is set with Allow.
func (l *Layout) NewScratch(limits scratch.Limits) *scratch.FS {
	limits.Guest = ScratchDirectory
	if l.mountsWork() {
		limits.View, limits.ViewAt = WorkName, workDirectory
	}
	tmp := scratch.New(limits)
	tmp.Allow(1 << 20)
	for _, mount := range l.Mounts() {
		if top, _ := topInScratch(mount); top != "" {
			_ = tmp.Mkdir(top, 0o755) // it exists if another mount has the same name
		}
	}
	tmp.Allow(0)
	return tmp
}
