package interpreter

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

type link = hostpath.Link

func inFS(name string) string { return hostpath.InFS(name) }

// resolve is hostpath.Resolve, cached if fsys is a memo.
func resolve(fsys fs.FS, name string) (real string, met []link, err error) {
	if m, ok := fsys.(*memo); ok {
		return m.resolve(name)
	}
	return hostpath.Resolve(fsys, name)
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// stat is fs.Stat by resolve.
func stat(fsys fs.FS, name string) (fs.FileInfo, error) {
	real, _, err := resolve(fsys, name)
	if err != nil {
		return nil, err
	}
	return fs.Lstat(fsys, inFS(real))
}

func isDir(fsys fs.FS, name string) bool {
	info, err := stat(fsys, name)
	return err == nil && info.IsDir()
}

func isFile(fsys fs.FS, name string) bool {
	info, err := stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func isExecutable(fsys fs.FS, name string) bool {
	info, err := stat(fsys, name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
