package hostpath

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// maxLinks is the kernel's bound on the links in one path.
const maxLinks = 40

// ErrLoop means that a path has more links than the kernel follows, most likely a loop.
var ErrLoop = errors.New("too many symbolic links")

// Link is a symbolic link: its real path and its target as written.
type Link struct{ At, Target string }

// InFS turns an absolute path into a name for an fs.FS rooted at "/".
func InFS(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// Resolve follows every symbolic link in an absolute path and returns them in order. It
// uses the targets as text and does not open the links, so that an absolute link in
// another tree than the host's stays in that tree. On an error, real is the path that
// could not be followed.
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

// Under reports whether a clean path is dir or is below it.
func Under(name, dir string) bool {
	return name == dir || dir == "/" && path.IsAbs(name) ||
		len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}
