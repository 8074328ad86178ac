package hostpath

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// maxLinks is the kernel's own bound on the links in one path.
const maxLinks = 40

// ErrLoop says that links lead back to themselves.
var ErrLoop = errors.New("too many symbolic links")

// Link is a symbolic link: where it is (a real path) and the text in it.
type Link struct{ At, Target string }

// InFS turns an absolute path into a name for an fs.FS rooted at "/".
func InFS(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// Resolve follows every symbolic link in an absolute path and says which it
// met, in order. It works on the links' texts, not by opening them, so that an
// absolute link in a tree that is not the host's stays in that tree. With an
// error, real is what could not be followed.
func Resolve(fsys fs.FS, name string) (real string, met []Link, err error) {
	return ResolveFrom(fsys, "/", nil, strings.Split(name, "/"))
}

// ResolveFrom is Resolve for the rest of a path, from a real directory on.
func ResolveFrom(fsys fs.FS, real string, met []Link, todo []string) (string, []Link, error) {
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
			return next, met, ErrLoop
		}
		target, err := fs.ReadLink(fsys, next[1:])
		if err != nil {
			return next, met, err
		}
		met = append(met, Link{next, target})
		if path.IsAbs(target) {
			real = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return real, met, nil
}

// Under reports whether a clean path is dir or lies beneath it.
func Under(name, dir string) bool {
	return name == dir || dir == "/" && path.IsAbs(name) ||
		len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}
