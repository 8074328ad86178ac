package interpreter

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// memo caches the result for each name. Resolving a hundred paths repeats system calls for
// the same few directories, which took half of the time of Find and Mounts. A memo lives
// for one call, so that it is never stale.
type memo struct {
	fs.FS
	infos map[string]answer[fs.FileInfo]
	links map[string]answer[string]
	reals map[string]answer[resolved]
}

// resolved is a result of resolve.
type resolved struct {
	real string
	met  []link
}

type answer[T any] struct {
	value T
	err   error
}

func newMemo(fsys fs.FS) *memo {
	return &memo{fsys, map[string]answer[fs.FileInfo]{}, map[string]answer[string]{}, map[string]answer[resolved]{}}
}

// resolve starts from the parent directory, which is often cached.
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

// ReadDir implements fs.ReadDirFS, which the embedded interface does not have.
func (m *memo) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(m.FS, name) }
