package wasm

import (
	"bytes"
	"io"
	"io/fs"
	"time"
)

// singleFile is a folder with one file, of which nothing lies on a disk.
type singleFile struct {
	name string
	data []byte
}

// Open opens the file, or the folder.
func (s singleFile) Open(name string) (fs.File, error) {
	switch name {
	case ".":
		return &openFolder{of: s}, nil
	case s.name:
		return &openFile{bytes.NewReader(s.data), s}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

type openFile struct {
	*bytes.Reader
	of singleFile
}

func (f *openFile) Stat() (fs.FileInfo, error) {
	return entry{f.of.name, int64(len(f.of.data)), 0o444}, nil
}
func (f *openFile) Close() error { return nil }

type openFolder struct {
	of   singleFile
	read bool
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return entry{".", 0, fs.ModeDir | 0o555}, nil }
func (f *openFolder) Close() error               { return nil }
func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if f.read {
		if n > 0 {
			return nil, io.EOF
		}
		return nil, nil
	}
	f.read = true
	return []fs.DirEntry{fs.FileInfoToDirEntry(entry{f.of.name, int64(len(f.of.data)), 0o444})}, nil
}

type entry struct {
	name string
	size int64
	mode fs.FileMode
}

func (e entry) Name() string       { return e.name }
func (e entry) Size() int64        { return e.size }
func (e entry) Mode() fs.FileMode  { return e.mode }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool        { return e.mode.IsDir() }
func (e entry) Sys() any           { return nil }
