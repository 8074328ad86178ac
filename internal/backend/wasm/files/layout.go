// Package files decides what a guest of WebAssembly finds at which path: what the policy
// grants, and for Python its library, its own /tmp and the directories that lead to all of
// them.
package files

import (
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	libraryDirectory = "/lib"
	libraryName      = "python311.zip"

	// ScratchDirectory is a script's own.
	ScratchDirectory = "/tmp"
)

// Layout is what every script of one interpreter finds.
type Layout struct {
	library sys.FS
	root    sys.FS // nil where a grant is the root directory
	parents []parent
	granted []string
}

// NewLayout is for a library, as a zip file, and the paths at which grants are mounted.
func NewLayout(library []byte, granted []string) (*Layout, error) {
	// WASI has directories alone: the file would come with a /tmp that is not the
	// script's own.
	if slices.Contains(granted, ScratchDirectory) {
		return nil, run.Errorf(run.Unsupported, "a file in %[1]s itself cannot be granted to Python as WebAssembly, which has its own %[1]s: move it to a directory below and grant that", ScratchDirectory)
	}
	l := &Layout{library: readOnlyTree(newTree().file(libraryName, library)), granted: granted, parents: parentsOf(granted)}
	if !slices.Contains(granted, "/") {
		l.root = rootAbove(l.Mounts())
	}
	return l, nil
}

// rootAbove is the directory above all mounts. Without it, a path in none of them would
// give an error that other tiers do not have, instead of a file that does not exist.
func rootAbove(mounts []string) sys.FS {
	all := newTree().file(nullFile, nil)
	for _, mount := range mounts {
		all.directory(strings.TrimPrefix(mount, "/"))
	}
	return root{readOnlyTree(all)}
}

// Mounts are the paths at which scripts find files, in the order of Config.
func (l *Layout) Mounts() []string {
	var names []string
	if l.root != nil {
		names = append(names, "/")
	}
	names = append(names, libraryDirectory, ScratchDirectory)
	for _, p := range l.parents {
		names = append(names, p.at)
	}
	return append(names, l.granted...)
}

// Config mounts all of it for one guest. The C library counts the mounts at its start, so
// that all copies of one memory must find the same ones.
func (l *Layout) Config(errors *guestfs.Errors, open *guestfs.OpenFiles, tmp *scratch.FS, granted *rootfs.Set) wazero.FSConfig {
	config := wazero.NewFSConfig()
	mount := func(what sys.FS, at string) { config = config.(sysfs.FSConfig).WithSysFSMount(errors.Watch(what), at) }
	if l.root != nil {
		mount(&counted{l.root, guestfs.HandlesOf(open)}, "/")
	}
	mount(&counted{l.library, guestfs.HandlesOf(open)}, libraryDirectory)
	mount(tmp, ScratchDirectory)
	for _, p := range l.parents {
		mount(&counted{p.fs, guestfs.HandlesOf(open)}, p.at)
	}
	for _, m := range granted.Mounts() {
		mount(m.FS, m.Guest)
	}
	return config
}

// HasFiles says whether a path leads into a mount that has files, and not only
// directories that lead to other mounts.
func (l *Layout) HasFiles(name string) bool {
	innermost := ""
	for _, mount := range l.Mounts() {
		if isIn(name, mount) && len(mount) > len(innermost) {
			innermost = mount
		}
	}
	return innermost != "" && !slices.ContainsFunc(l.parents, func(p parent) bool { return p.at == innermost })
}

// isIn says whether a path leads into a mount. The root is none of these: it has only
// what leads to the others.
func isIn(name, mount string) bool {
	name = path.Clean(name)
	return mount != "/" && (name == mount || strings.HasPrefix(name, mount+"/"))
}
