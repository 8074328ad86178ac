package scratch

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

const (
	// device is a number that no mount of package rootfs has.
	device = 1 << 16

	topMode  = 0o777
	linkMode = fs.ModeSymlink | 0o777
)

// node is a file, a directory or a link, which may have several names.
type node struct {
	ino   uint64
	mode  fs.FileMode
	links int // names, as POSIX counts them
	opens int // handles

	accessed, modified, changed int64 // nanoseconds

	names *names // of a directory
	text  string // of a link
	size  int64  // of a file
	pages pages
}

func (n *node) isDirectory() bool { return n.mode.IsDir() }
func (n *node) isLink() bool      { return n.mode&fs.ModeSymlink != 0 }

// newNode returns a node without a name.
func (f *FS) newNode(mode fs.FileMode) *node {
	n := &node{mode: mode}
	f.initNode(n)
	return n
}

func (f *FS) initNode(n *node) {
	f.inodes++
	n.ino = f.inodes
	n.accessed = f.now()
	n.modified, n.changed = n.accessed, n.accessed
}

// makeDirectory turns n into an empty directory.
func (f *FS) makeDirectory(n, parent *node, perm fs.FileMode) {
	f.initNode(n)
	n.mode, n.links, n.names = fs.ModeDir|perm.Perm(), 2, &names{parent: parent}
}

// touch updates the times after a change of the content.
func (f *FS) touch(nodes ...*node) {
	now := f.now()
	for _, n := range nodes {
		n.modified, n.changed = now, now
	}
}

// cost returns the cost of a name for n.
func cost(n *node) int64 {
	if n.isDirectory() {
		return 2 * EntryCost
	}
	return EntryCost
}

// attach adds a name for n, whose cost was charged.
func (f *FS) attach(directory *node, name string, n *node) {
	directory.names.add(name, n)
	if n.isDirectory() {
		n.names.parent = directory
		directory.links++
	} else {
		n.links++
	}
}

// detach removes a name and keeps the node.
func (f *FS) detach(directory *node, name string, n *node) {
	directory.names.remove(name)
	if n.isDirectory() {
		directory.links--
	} else {
		n.links--
	}
}

// remove removes a name, and the node with its last name.
func (f *FS) remove(directory *node, name string, n *node) {
	f.detach(directory, name, n)
	f.give(cost(n))
	if n.isDirectory() {
		n.links = 0
	}
	n.changed = f.now()
	f.release(n)
}

// release frees a node without names and handles.
func (f *FS) release(n *node) {
	if n.links > 0 || n.opens > 0 {
		return
	}
	f.give(int64(len(n.text)))
	n.text = ""
	f.cut(n, 0)
}

func (n *node) stat() wazerosys.Stat_t {
	size := n.size
	if n.isLink() {
		size = int64(len(n.text))
	}
	return wazerosys.Stat_t{
		Dev: device, Ino: n.ino, Mode: n.mode, Nlink: uint64(n.links), Size: size,
		Atim: n.accessed, Mtim: n.modified, Ctim: n.changed,
	}
}

// setTimes sets the times for both kinds of utimens.
func (f *FS) setTimes(n *node, accessed, modified int64) {
	if accessed != sys.UTIME_OMIT {
		n.accessed = accessed
	}
	if modified != sys.UTIME_OMIT {
		n.modified = modified
	}
	n.changed = f.now()
}
