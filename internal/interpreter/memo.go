package interpreter

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// memo remembers the answer for each name. Resolving a hundred paths asks
// for the same few directories again and again, and each question is a system
// call: half of the time that Find and Mounts take. It serves one call and is
// dropped with it, so that nothing old is believed.
type memo struct {
	fs.FS
	infos map[string]answer[fs.FileInfo]
	links map[string]answer[string]
	reals map[string]answer[resolved]
}

// resolved is what resolve says of a path.
type resolved struct {
	real string
	met  []link
}

type answer[T any] struct {
	value T
	err   error
}

func remember(fsys fs.FS) *memo {
	return &memo{fsys, map[string]answer[fs.FileInfo]{}, map[string]answer[string]{}, map[string]answer[resolved]{}}
}

// resolve goes on from the directory around it, which others have asked for.
func (m *memo) resolve(name string) (string, []link, error) {
	a, ok := m.reals[name]
	if !ok {
		if dir, base := path.Split(name); base == "" || path.Clean(name) != name {
			a.value.real, a.value.met, a.err = hostpath.ResolveFrom(m, "/", nil, strings.Split(name, "/"))
		} else if a.value.real, a.value.met, a.err = m.resolve(path.Clean(dir)); a.err == nil {
			a.value.real, a.value.met, a.err = hostpath.ResolveFrom(m, a.value.real, slices.Clip(a.value.met), []string{base})
		}
		m.reals[name] = a
	}
	return a.value.real, a.value.met, a.err
}

// Lstat is part of fs.ReadLinkFS.
func (m *memo) Lstat(name string) (fs.FileInfo, error) {
	a, ok := m.infos[name]
	if !ok {
		a.value, a.err = fs.Lstat(m.FS, name)
		m.infos[name] = a
	}
	return a.value, a.err
}

// ReadLink is part of fs.ReadLinkFS.
func (m *memo) ReadLink(name string) (string, error) {
	a, ok := m.links[name]
	if !ok {
		a.value, a.err = fs.ReadLink(m.FS, name)
		m.links[name] = a
	}
	return a.value, a.err
}

// ReadDir is fs.ReadDirFS, which embedding the interface would hide.
func (m *memo) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(m.FS, name) }
