package scratch

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// view is one directory of an FS as a mount of its own. It is made when it is first used.
type view struct {
	sys.UnimplementedFS
	fs        *FS
	directory string
	handles   *guestfs.Handles
}

// View returns a directory at the top as a mount. A guest that replaces the directory changes what
// the mount shows, as with a symbolic link.
func (f *FS) View(directory string) sys.FS {
	return &view{fs: f, directory: directory, handles: guestfs.HandlesOf(f.limits.Files)}
}

// in returns the path of the FS.
func (v *view) in(path string) string {
	_ = v.fs.do(func() sys.Errno { return v.fs.makeOnce(v.directory) }) // what follows fails too
	return v.directory + "/" + path
}

// makeOnce makes a directory at the top, unless it was there before. It is made without room, too:
// the C library leaves out mounts that it cannot open at its start.
func (f *FS) makeOnce(directory string) sys.Errno {
	if f.made[directory] {
		return 0
	}
	s, errno := f.findFree(directory, true)
	if errno == 0 {
		n := &node{}
		f.makeDirectory(n, s.directory, topMode)
		f.used += cost(n)
		f.attach(s.directory, s.name, n)
	}
	if errno == 0 || errno == sys.EEXIST {
		if f.made == nil {
			f.made = map[string]bool{}
		}
		f.made[directory], errno = true, 0
	}
	return errno
}

// OpenFile implements sys.FS.
func (v *view) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	return v.fs.openAs(v.handles, path, v.in(path), flag, perm)
}

// Stat implements sys.FS.
func (v *view) Stat(path string) (wazerosys.Stat_t, sys.Errno) { return v.fs.Stat(v.in(path)) }

// Lstat implements sys.FS.
func (v *view) Lstat(path string) (wazerosys.Stat_t, sys.Errno) { return v.fs.Lstat(v.in(path)) }

// Mkdir implements sys.FS.
func (v *view) Mkdir(path string, perm fs.FileMode) sys.Errno { return v.fs.Mkdir(v.in(path), perm) }

// Chmod implements sys.FS.
func (v *view) Chmod(path string, perm fs.FileMode) sys.Errno { return v.fs.Chmod(v.in(path), perm) }

// Rename implements sys.FS.
func (v *view) Rename(from, to string) sys.Errno { return v.fs.Rename(v.in(from), v.in(to)) }

// Rmdir implements sys.FS.
func (v *view) Rmdir(path string) sys.Errno { return v.fs.Rmdir(v.in(path)) }

// Unlink implements sys.FS.
func (v *view) Unlink(path string) sys.Errno { return v.fs.Unlink(v.in(path)) }

// Link implements sys.FS.
func (v *view) Link(from, to string) sys.Errno { return v.fs.Link(v.in(from), v.in(to)) }

// Symlink implements sys.FS.
func (v *view) Symlink(text, path string) sys.Errno { return v.fs.Symlink(text, v.in(path)) }

// Readlink implements sys.FS.
func (v *view) Readlink(path string) (string, sys.Errno) { return v.fs.Readlink(v.in(path)) }

// Utimens implements sys.FS.
func (v *view) Utimens(path string, accessed, modified int64) sys.Errno {
	return v.fs.Utimens(v.in(path), accessed, modified)
}
