// Package files decides what a WebAssembly guest finds at which path: the policy's grants, and
// for Python its library, its own /tmp and the directories above all of them.
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

	// ScratchDirectory is the private directory of a script.
	ScratchDirectory = "/tmp"

	// WorkName is the directory in it for a script's files, which is also mounted.
	WorkName      = "work"
	workDirectory = "/work"
)

// Layout has the files of every script of one interpreter.
type Layout struct {
	library sys.FS
	root    sys.FS // nil if the root directory is granted
	parents []parent
	granted []string
}

// NewLayout returns the layout for a library, as a zip file, and the paths of grants.
func NewLayout(library []byte, granted []string) (*Layout, error) {
	// WASI can only grant directories: the file would come with a /tmp that is not the
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

// rootAbove returns the directory above all mounts. Without it, opening a path outside the
// mounts would fail with an error that other tiers do not have, instead of ENOENT.
func rootAbove(mounts []string) sys.FS {
	all := newTree().file(nullFile, nil)
	for _, mount := range mounts {
		all.directory(strings.TrimPrefix(mount, "/"))
	}
	return root{readOnlyTree(all)}
}

// Mounts returns the paths of the mounts, in the order of Config.
func (l *Layout) Mounts() []string {
	var names []string
	if l.root != nil {
		names = append(names, "/")
	}
	names = append(names, libraryDirectory, ScratchDirectory)
	if l.mountsWork() {
		names = append(names, workDirectory)
	}
	for _, p := range l.parents {
		names = append(names, p.at)
	}
	return append(names, l.granted...)
}

// mountsWork reports whether the policy grants nothing that /work would hide.
func (l *Layout) mountsWork() bool {
	return !slices.ContainsFunc(l.granted, func(g string) bool { return g == "/" || isIn(g, workDirectory) })
}

// Work returns where a script finds its files.
func (l *Layout) Work() string {
	if l.mountsWork() {
		return workDirectory
	}
	return ScratchDirectory + "/" + WorkName
}

// Config returns the mounts of one guest. The C library counts the mounts at its start, so all
// copies of one memory must have the same ones.
func (l *Layout) Config(errors *guestfs.Errors, open *guestfs.OpenFiles, tmp *scratch.FS, granted *rootfs.Set) wazero.FSConfig {
	config := wazero.NewFSConfig()
	mount := func(what sys.FS, at string) { config = config.(sysfs.FSConfig).WithSysFSMount(errors.Watch(what), at) }
	if l.root != nil {
		mount(&counted{l.root, guestfs.HandlesOf(open)}, "/")
	}
	mount(&counted{l.library, guestfs.HandlesOf(open)}, libraryDirectory)
	mount(tmp, ScratchDirectory)
	if l.mountsWork() {
		mount(tmp.View(WorkName), workDirectory)
	}
	for _, p := range l.parents {
		mount(&counted{p.fs, guestfs.HandlesOf(open)}, p.at)
	}
	for _, m := range granted.Mounts() {
		mount(m.FS, m.Guest)
	}
	return config
}

// HasFiles reports whether a path is in a mount with files, not only with directories above
// other mounts.
func (l *Layout) HasFiles(name string) bool {
	innermost := ""
	for _, mount := range l.Mounts() {
		if isIn(name, mount) && len(mount) > len(innermost) {
			innermost = mount
		}
	}
	return innermost != "" && !slices.ContainsFunc(l.parents, func(p parent) bool { return p.at == innermost })
}

// isIn reports whether a path is in a mount. The root does not count, because it has only
// directories above the others.
func isIn(name, mount string) bool {
	name = path.Clean(name)
	return mount != "/" && (name == mount || strings.HasPrefix(name, mount+"/"))
}
