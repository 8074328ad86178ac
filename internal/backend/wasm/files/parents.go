package files

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
)

// A script has its own /tmp. What is granted below the host's /tmp is mounted by its path,
// which is enough to open it. To be listed, it also needs a name in the script's /tmp, and
// directories that lead to it.

// parent is a directory in /tmp that has only the way to grants.
type parent struct {
	at string
	fs sys.FS
}

// parentsOf gives the parents that the mounts need.
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

// NewScratch gives a /tmp with the names of what is mounted in it. Its owner says how much
// more may be written to it (Allow).
func (l *Layout) NewScratch(limits scratch.Limits) *scratch.FS {
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
