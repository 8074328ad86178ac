package files

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// tree is an immutable tree of directories and files in memory.
type tree map[string]*leaf

// leaf is a file, or a directory with names in it.
type leaf struct {
	name  string
	data  []byte
	names map[string]bool // nil for a file
}

// newTree returns a tree with an empty root directory.
func newTree() tree { return tree{".": {name: ".", names: map[string]bool{}}} }

// directory creates a directory and its parents, unless they exist. The path is relative.
func (t tree) directory(at string) *leaf {
	if there := t[at]; there != nil {
		return there
	}
	made := &leaf{name: path.Base(at), names: map[string]bool{}}
	t[at] = made
	t.directory(path.Dir(at)).names[made.name] = true
	return made
}

// file adds a file.
func (t tree) file(at string, data []byte) tree {
	t.directory(path.Dir(at)).names[path.Base(at)] = true
	t[at] = &leaf{name: path.Base(at), data: data}
	return t
}

// Open implements fs.FS.
func (t tree) Open(name string) (fs.File, error) {
	l := t[name]
	switch {
	case l == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case l.names == nil:
		return &openLeaf{bytes.NewReader(l.data), l}, nil
	}
	var entries []fs.DirEntry
	for _, below := range slices.Sorted(maps.Keys(l.names)) {
		entries = append(entries, fs.FileInfoToDirEntry(t[strings.TrimPrefix(path.Join(name, below), "./")]))
	}
	return &openBranch{l, entries}, nil
}

// A leaf is its own fs.FileInfo.

func (l *leaf) Name() string       { return l.name }
func (l *leaf) Size() int64        { return int64(len(l.data)) }
func (l *leaf) ModTime() time.Time { return time.Unix(0, 0) }
func (l *leaf) IsDir() bool        { return l.names != nil }
func (l *leaf) Sys() any           { return nil }

// Mode implements fs.FileInfo: everything is read-only.
func (l *leaf) Mode() fs.FileMode {
	if l.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type openLeaf struct {
	*bytes.Reader
	of *leaf
}

func (f *openLeaf) Stat() (fs.FileInfo, error) { return f.of, nil }
func (f *openLeaf) Close() error               { return nil }

type openBranch struct {
	of   *leaf
	rest []fs.DirEntry
}

func (f *openBranch) Stat() (fs.FileInfo, error) { return f.of, nil }
func (f *openBranch) Close() error               { return nil }
func (f *openBranch) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.of.name, Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (f *openBranch) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.rest)
	} else if len(f.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.rest))
	given := f.rest[:n]
	f.rest = f.rest[n:]
	return given, nil
}
