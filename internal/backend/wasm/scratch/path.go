package scratch

import (
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// What Linux has, too.
const (
	maxPath  = 4096
	maxName  = 255
	maxLinks = 40
)

// spot is where a path leads.
type spot struct {
	// directory and name are where the node is, or could be. There are none for a path
	// that ends in dots, or is the directory of all.
	directory *node
	name      string
	node      *node
	// slash says that the path ends in one, and means a directory.
	slash bool
}

// following is what becomes of a link at the end of a path.
type following int

const (
	never   following = iota // the name is meant
	ifSlash                  // the link is meant, but "link/" is what is behind it
	always
)

// walk finds the spot of a path. Each directory on the way must be there.
func (f *FS) walk(path string, follow following) (spot, sys.Errno) {
	switch {
	case len(path) > maxPath:
		return spot{}, sys.ENAMETOOLONG
	case strings.ContainsRune(path, 0):
		return spot{}, sys.EINVAL
	}
	at, links := &f.top, 0
	for rest := path; ; {
		name, behind, slash := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		rest = strings.TrimLeft(behind, "/")
		last := rest == ""
		var next *node
		switch {
		case len(name) > maxName:
			return spot{}, sys.ENAMETOOLONG
		case name == "" || name == ".":
			next = at
		case name == ".." && at == &f.top:
			return spot{}, sys.EPERM
		case name == "..":
			next = at.names.parent
		default:
			next = at.names.get(name)
		}
		switch {
		case next == nil && !last:
			return spot{}, sys.ENOENT
		case next == nil:
			return spot{directory: at, name: name, slash: slash}, 0
		case next.isLink() && (!last || follow == always || slash && follow == ifSlash):
			if links++; links > maxLinks {
				return spot{}, sys.ELOOP
			}
			text := next.text
			if strings.HasPrefix(text, "/") {
				var inside bool
				if text, inside = f.inside(text); !inside {
					return spot{}, sys.EPERM
				}
				at = &f.top
			}
			if rest = text; slash {
				rest = text + "/" + strings.TrimLeft(behind, "/")
			}
		case last && (name == "" || name == "." || name == ".."):
			return spot{node: next, slash: slash}, 0
		case last:
			return spot{directory: at, name: name, node: next, slash: slash}, 0
		case !next.isDirectory():
			return spot{}, sys.ENOTDIR
		default:
			at = next
		}
	}
}

// inside is what an absolute path means in here.
func (f *FS) inside(path string) (string, bool) {
	rest, below := strings.CutPrefix(path, f.limits.Guest)
	return rest, below && f.limits.Guest != "" && (rest == "" || rest[0] == '/')
}

// find is walk to what is there.
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

// place is walk to a name that is free.
func (f *FS) place(path string, directory bool) (spot, sys.Errno) {
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
