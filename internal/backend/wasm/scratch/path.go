package scratch

import (
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// The limits of Linux.
const (
	maxPath  = 4096
	maxName  = 255
	maxLinks = 40
)

// location is the result of walking a path.
type location struct {
	// directory and name are the position of the node, which may not exist yet. They
	// are unset for a path that ends in dots, and for the top directory.
	directory *node
	name      string
	node      *node
	// slash says that the path ends in a slash, and so means a directory.
	slash bool
}

// following says whether to follow a link at the end of a path.
type following int

const (
	never   following = iota // use the name itself
	ifSlash                  // follow "link/", but not "link"
	always
)

// walk finds the location of a path. Each directory in the path must exist.
func (f *FS) walk(path string, follow following) (location, sys.Errno) {
	return f.walkFrom(&f.top, f.limits.Guest, path, follow)
}

// walkFrom is walk below a directory, which no link leaves. An absolute link is followed if it is
// below the directory's path in the guest.
func (f *FS) walkFrom(top *node, guest, path string, follow following) (location, sys.Errno) {
	switch {
	case len(path) > maxPath:
		return location{}, sys.ENAMETOOLONG
	case strings.ContainsRune(path, 0):
		return location{}, sys.EINVAL
	}
	at, links := top, 0
	for rest := path; ; {
		name, behind, slash := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		rest = strings.TrimLeft(behind, "/")
		last := rest == ""
		var next *node
		switch {
		case len(name) > maxName:
			return location{}, sys.ENAMETOOLONG
		case name == "" || name == ".":
			next = at
		case name == ".." && at == top:
			return location{}, sys.EPERM
		case name == "..":
			next = at.names.parent
		default:
			next = at.names.get(name)
		}
		switch {
		case next == nil && !last:
			return location{}, sys.ENOENT
		case next == nil:
			return location{directory: at, name: name, slash: slash}, 0
		case next.isLink() && (!last || follow == always || slash && follow == ifSlash):
			if links++; links > maxLinks {
				return location{}, sys.ELOOP
			}
			text := next.text
			if strings.HasPrefix(text, "/") {
				var inside bool
				if text, inside = f.inside(guest, text); !inside {
					return location{}, sys.EPERM
				}
				at = top
			}
			if rest = text; slash {
				rest = text + "/" + strings.TrimLeft(behind, "/")
			}
		case last && (name == "" || name == "." || name == ".."):
			return location{node: next, slash: slash}, 0
		case last:
			return location{directory: at, name: name, node: next, slash: slash}, 0
		case !next.isDirectory():
			return location{}, sys.ENOTDIR
		default:
			at = next
		}
	}
}

// inside converts an absolute path in the guest to one relative to the top directory.
func (f *FS) inside(guest, path string) (string, bool) {
	if guest == "" {
		return "", false
	}
	for _, at := range []struct{ path, directory string }{{guest, ""}, {f.limits.ViewAt, f.limits.View}} {
		if rest, below := strings.CutPrefix(path, at.path); at.path != "" && below && (rest == "" || rest[0] == '/') {
			return at.directory + rest, true
		}
	}
	return "", false
}

// find is walk to an existing node.
func (f *FS) find(path string, follow following) (*node, sys.Errno) {
	s, errno := f.walk(path, follow)
	switch {
	case errno != 0:
		return nil, errno
	case s.node == nil:
		return nil, sys.ENOENT
	case s.slash && !s.node.isDirectory():
		return nil, sys.ENOTDIR
	}
	return s.node, 0
}

// findFree is walk to a name that does not exist.
func (f *FS) findFree(path string, directory bool) (location, sys.Errno) {
	s, errno := f.walk(path, never)
	switch {
	case errno != 0:
	case s.node != nil:
		errno = sys.EEXIST
	case s.slash && !directory:
		errno = sys.ENOENT
	}
	return s, errno
}
