package interpreter

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// maxLinks is the kernel's own bound on the links in one path.
const maxLinks = 40

var errLoop = errors.New("too many symbolic links")

// link is a symbolic link: where it is (a real path) and the text in it.
type link struct{ at, target string }

// inFS turns an absolute path into a name for an fs.FS rooted at "/".
func inFS(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// resolve follows every symbolic link in an absolute path and says which it
// met, in order. It works on the links' texts, not by opening them, so that an
// absolute link in a tree that is not the host's stays in that tree.
func resolve(fsys fs.FS, name string) (real string, met []link, err error) {
	if m, ok := fsys.(*memo); ok {
		return m.resolve(name)
	}
	return walk(fsys, "/", nil, strings.Split(name, "/"))
}

// walk goes on from a real folder.
func walk(fsys fs.FS, real string, met []link, todo []string) (string, []link, error) {
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			real = path.Dir(real)
			continue
		}
		next := strings.TrimSuffix(real, "/") + "/" + part
		info, err := fs.Lstat(fsys, next[1:])
		if err != nil {
			return next, met, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		if len(met) == maxLinks {
			return next, met, errLoop
		}
		target, err := fs.ReadLink(fsys, next[1:])
		if err != nil {
			return next, met, err
		}
		met = append(met, link{next, target})
		if path.IsAbs(target) {
			real = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return real, met, nil
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

// Under reports whether a clean path is dir or lies beneath it.
func Under(name, dir string) bool {
	return name == dir || dir == "/" && path.IsAbs(name) ||
		len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}
