package files

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wazerosys "github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// nullFile is os.devnull, in the root directory.
const nullFile = "dev/null"

// root has the directories above a script's mounts, and /dev/null. Nothing else exists or can
// be created.
type root struct{ readOnly }

// OpenFile implements sys.FS.
func (r root) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	if path != nullFile {
		return r.readOnly.OpenFile(path, flag, perm)
	}
	w, errno := guestfs.ParseOpenMode(flag)
	switch {
	case errno != 0:
		return nil, errno
	case w.Exclusive:
		return nil, sys.EEXIST
	case w.Directory:
		return nil, sys.ENOTDIR
	}
	return &null{readable: w.Read, writable: w.Write}, 0
}

// Stat implements sys.FS.
func (r root) Stat(path string) (wazerosys.Stat_t, sys.Errno) {
	if path == nullFile {
		return nullStat, 0
	}
	return r.readOnly.Stat(path)
}

// Lstat implements sys.FS.
func (r root) Lstat(path string) (wazerosys.Stat_t, sys.Errno) { return r.Stat(path) }

// readOnly returns the usual errors of a read-only file system if a file is opened for writing
// or created.
type readOnly struct{ sys.FS }

func readOnlyTree(t tree) readOnly { return readOnly{&sysfs.ReadFS{FS: &sysfs.AdaptFS{FS: t}}} }

// OpenFile implements sys.FS.
func (r readOnly) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	w, errno := guestfs.ParseOpenMode(flag)
	if errno != 0 {
		return nil, errno
	}
	if !w.Write && !w.Create {
		return r.FS.OpenFile(path, flag, perm)
	}
	switch st, errno := r.Stat(path); {
	case errno == sys.ENOENT && !w.Create:
		return nil, errno
	case errno == 0 && st.Mode.IsDir():
		return nil, sys.EISDIR
	}
	return nil, sys.EROFS
}

// null is an open /dev/null: it is empty and discards writes.
type null struct {
	sys.UnimplementedFile
	readable, writable bool
}

var nullStat = wazerosys.Stat_t{Ino: 1, Mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, Nlink: 1}

// Stat implements sys.File.
func (*null) Stat() (wazerosys.Stat_t, sys.Errno) { return nullStat, 0 }

// Dev implements sys.File.
func (*null) Dev() (uint64, sys.Errno) { return nullStat.Dev, 0 }

// Ino implements sys.File.
func (*null) Ino() (wazerosys.Inode, sys.Errno) { return nullStat.Ino, 0 }

// IsDir implements sys.File.
func (*null) IsDir() (bool, sys.Errno) { return false, 0 }

// Read implements sys.File.
func (n *null) Read([]byte) (int, sys.Errno) {
	if !n.readable {
		return 0, sys.EBADF
	}
	return 0, 0
}

// Pread implements sys.File.
func (n *null) Pread(buf []byte, _ int64) (int, sys.Errno) { return n.Read(buf) }

// Write implements sys.File.
func (n *null) Write(buf []byte) (int, sys.Errno) {
	if !n.writable {
		return 0, sys.EBADF
	}
	return len(buf), 0
}

// Pwrite implements sys.File.
func (n *null) Pwrite(buf []byte, _ int64) (int, sys.Errno) { return n.Write(buf) }

// Seek implements sys.File.
func (*null) Seek(position, int) (position, sys.Errno) { return 0, 0 }

// position is the type of offsets in Seek. With int64, go vet would require the signature of
// io.Seeker.
type position = int64

// SetAppend implements sys.File.
func (*null) SetAppend(bool) sys.Errno { return 0 }

// Close implements sys.File.
func (*null) Close() sys.Errno { return 0 }
