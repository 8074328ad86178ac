package wasm

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/run"
)

// A script has a /tmp of its own. What is granted below the host's is mounted by its
// path, which is enough to open it. To be found when somebody looks around, it needs a
// name in /tmp, and directories that lead to it.

// parent is a directory in /tmp that has nothing but the way to grants.
type parent struct {
	at string
	fs sys.FS
}

// parentsOf gives those that the mounts need.
func parentsOf(mounts []string) (parents []parent) {
	trees := map[string]tree{}
	for _, mount := range mounts {
		top, deeper := topInScratch(mount)
		if deeper == "" || slices.Contains(mounts, path.Join(scratchDirectory, top)) {
			continue
		}
		if trees[top] == nil {
			trees[top] = newTree()
		}
		trees[top].directory(deeper)
	}
	for _, top := range slices.Sorted(maps.Keys(trees)) {
		parents = append(parents, parent{path.Join(scratchDirectory, top), readOnly{&sysfs.ReadFS{FS: &sysfs.AdaptFS{FS: trees[top]}}}})
	}
	return parents
}

// topInScratch splits the path of a mount in /tmp into its name there and the rest.
func topInScratch(mount string) (top, deeper string) {
	rest, inside := strings.CutPrefix(mount, scratchDirectory+"/")
	if !inside {
		return "", ""
	}
	top, deeper, _ = strings.Cut(rest, "/")
	return top, deeper
}

// newScratch gives a /tmp that has the names of what is mounted in it. Its owner says
// how much else has room there (Allow).
func (i *interpreter) newScratch(limits scratch.Limits) *scratch.FS {
	tmp := scratch.New(limits)
	tmp.Allow(1 << 20)
	for _, mount := range i.mounts() {
		if top, _ := topInScratch(mount); top != "" {
			_ = tmp.Mkdir(top, 0o755) // for a second mount it is there
		}
	}
	tmp.Allow(0)
	return tmp
}

// checkMounts refuses a grant of a file that lies in /tmp itself. WASI has directories
// alone: the file would come with a /tmp that is not the script's own.
func checkMounts(mounts []string) error {
	if slices.Contains(mounts, scratchDirectory) {
		return run.Errorf(run.Unsupported, "a file in %[1]s itself cannot be granted to Python as WebAssembly, which has its own %[1]s: move it to a directory below and grant that", scratchDirectory)
	}
	return nil
}
