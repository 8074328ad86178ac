package interpreter

import "io/fs"

// memo remembers what it was told of each name. Resolving a hundred paths asks
// for the same few folders again and again, and each question is a system
// call: half of the time that Find and Mounts take. It serves one call and is
// dropped with it, so that nothing old is believed.
type memo struct {
	fs.FS
	infos map[string]answer[fs.FileInfo]
	links map[string]answer[string]
}

type answer[T any] struct {
	value T
	err   error
}

func remember(fsys fs.FS) *memo {
	return &memo{fsys, map[string]answer[fs.FileInfo]{}, map[string]answer[string]{}}
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
