package interpreter

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// MountKind is the kind of a mounted file.
type MountKind int

// The kinds. The zero value is invalid, so that a forgotten kind is noticed.
const (
	Dir MountKind = iota + 1
	File
	Symlink
)

// String names the kind.
func (k MountKind) String() string {
	switch k {
	case Dir:
		return "dir"
	case File:
		return "file"
	case Symlink:
		return "symlink"
	}
	return "none"
}

// Mount is a file or directory that a private root must contain, at the host's path. No
// component of Path is a symbolic link, except the last one of a Symlink.
type Mount struct {
	Path   string
	Kind   MountKind
	Target string // a Symlink's text, as the host has it
}

// Mounts lists the files that a private root must contain, read-only. They are sorted by
// path, and none is inside another. On systems without private roots the list is empty.
func (i Interpreter) Mounts() ([]Mount, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	fsys := newMemo(os.DirFS("/"))
	p := &planner{fsys: fsys, readELF: elfReader(fsys)}
	return p.plan(i)
}

// planner collects mounts. It depends only on its two fields, so that layouts of other
// distributions can be tested anywhere.
type planner struct {
	fsys    fs.FS
	readELF func(name string) (object, error)
	mounts  []Mount
}

// extras are other files that guests use: the loader's index, time zones, and the locale
// that Python switches to at its start.
var extras = []string{"/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/lib/locale"}

func (p *planner) plan(i Interpreter) ([]Mount, error) {
	if !p.need(i.Path) {
		return nil, run.Errorf(run.NotFound, "%s no longer exists", i.Path)
	}
	if !p.need(i.Stdlib) {
		return nil, run.Errorf(run.NotFound, "the standard library %s no longer exists", i.Stdlib)
	}
	for _, name := range i.SysPath {
		p.need(name)
	}
	// The binary searches for its library by its built-in name, which may be a link to the
	// one that we found (lib64 → lib).
	if stdlib, _, err := resolve(p.fsys, i.Stdlib); err == nil {
		for _, lib := range libDirectories {
			name := path.Join(i.Prefix, lib, path.Base(i.Stdlib))
			if real, _, err := resolve(p.fsys, name); err == nil && real == stdlib {
				p.need(name)
			}
		}
	}
	if err := p.libraries(i); err != nil {
		return nil, err
	}
	for _, name := range extras {
		p.need(name)
	}
	return fold(p.mounts), nil
}

// need adds a file or directory and the links to it. It returns false if the file does not
// exist.
func (p *planner) need(name string) bool {
	real, met, err := resolve(p.fsys, name)
	if err != nil {
		return false
	}
	info, err := fs.Lstat(p.fsys, inFS(real))
	if err != nil {
		return false
	}
	m := Mount{Path: real, Kind: File}
	switch {
	case real == "/": // never the whole host, even if a link or a RUNPATH names it
		return false
	case info.IsDir():
		m.Kind = Dir
	case !info.Mode().IsRegular():
		return false
	}
	for _, l := range met {
		p.mounts = append(p.mounts, Mount{Path: l.At, Kind: Symlink, Target: l.Target})
	}
	p.mounts = append(p.mounts, m)
	return true
}

// fold sorts mounts and drops duplicates and files inside mounted directories.
func fold(mounts []Mount) []Mount {
	sorted := slices.Clone(mounts)
	slices.SortFunc(sorted, func(a, b Mount) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return int(a.Kind) - int(b.Kind)
	})
	dirs := map[string]bool{}
	for _, m := range sorted {
		if m.Kind == Dir {
			dirs[m.Path] = true
		}
	}
	kept := sorted[:0]
	for _, m := range sorted {
		if len(kept) > 0 && kept[len(kept)-1].Path == m.Path {
			continue
		}
		covered := false
		for dir := path.Dir(m.Path); !covered && dir != "/" && dir != "."; dir = path.Dir(dir) {
			covered = dirs[dir]
		}
		if !covered {
			kept = append(kept, m)
		}
	}
	return kept
}
