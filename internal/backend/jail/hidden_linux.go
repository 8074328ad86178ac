package jail

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// accountedKinds are the file systems on which the kernel counts the bytes that a
// process writes, when they reach its cache (CONFIG_TASK_IO_ACCOUNTING). It does not
// for a tmpfs, nor for most that are served by another process or machine.
var accountedKinds = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true,
	unix.F2FS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true,
}

// countsWrites says that this kernel counts them at all.
func countsWrites() bool {
	_, err := os.Stat("/proc/self/io")
	return err == nil
}

// written adds up what the processes in a directory like /proc have written: each
// for itself, its dead threads, and the children that it has waited for.
func written(directory int) (sum int64) {
	eachProcess(directory, func(proc int, pid string) {
		sum += numberIn(readAt(proc, pid+"/io"), "write_bytes:")
	})
	return sum
}

// readAt reads a file of the kernel's, as far as it goes: a process may have ended.
func readAt(directory int, name string) []byte {
	fd, err := unix.Openat(directory, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // it was read only
	data, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	return data
}

// eachThread goes through the threads of all processes. One may have descriptors of
// its own, and outlive the first, through which a process is looked at otherwise.
func eachThread(directory int, f func(proc int, thread string)) {
	eachProcess(directory, func(proc int, pid string) {
		eachThreadOf(proc, pid, func(thread string) { f(proc, thread) })
	})
}

// eachThreadOf goes through the threads of a process, by their paths below proc.
func eachThreadOf(proc int, pid string, f func(thread string)) {
	for _, name := range namesIn(proc, pid+"/task") {
		f(pid + "/task/" + name)
	}
}

// namesIn lists a directory of the kernel's, as far as it goes: a process may have
// ended.
func namesIn(directory int, name string) []string {
	fd, err := unix.Openat(directory, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // it was read only
	names, _ := file.Readdirnames(-1)
	return names
}

// deleted counts the files that have no name any more, and that a process of the
// command has open. It says whether there may be others, whose size it cannot see: a
// process has them mapped, executes them, or has sent them to a socket that holds them.
func (c *count) deleted() (hidden bool) {
	mapped := map[string]bool{} // threads of a process map the same
	eachThread(c.watch.proc, func(proc int, thread string) {
		sockets := c.openDeleted(proc, thread)
		pid, _, _ := strings.Cut(thread, "/")
		if !mapped[pid] {
			maps := readAt(proc, thread+"/maps")
			mapped[pid] = len(maps) > 0
			hidden = hidden || c.mapsDeleted(maps)
		}
		if !hidden && sockets {
			hidden = holdsDescriptors(proc, thread)
		}
		if !hidden {
			var link [unix.PathMax]byte
			n, err := unix.Readlinkat(proc, thread+"/exe", link[:])
			path, deleted := strings.CutSuffix(string(link[:max(0, n)]), deletedMark)
			hidden = err == nil && deleted && !memoryPath(path) // as our init is
		}
	})
	return hidden
}

// deletedMark is what the kernel appends to the path of a file without a name.
const deletedMark = " (deleted)"

// openDeleted counts the deleted files that a thread has open, and says whether it
// has sockets.
func (c *count) openDeleted(proc int, thread string) (sockets bool) {
	for _, name := range namesIn(proc, thread+"/fd") {
		var stat unix.Statx_t
		if unix.Statx(proc, thread+"/fd/"+name, 0, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil {
			continue // it is closed
		}
		switch id := fileID(stat); {
		case stat.Mode&unix.S_IFMT == unix.S_IFSOCK:
			sockets = true
		case stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink > 0 || c.seen[id]:
		default:
			if _, ours := c.watch.devices[id[0]]; ours {
				c.add(stat)
			}
		}
	}
	return sockets
}

// mapsDeleted says whether a process has mapped a file of the host's without a name.
// Memory looks like one, and so do files of the scratch space; both have limits of
// their own.
func (c *count) mapsDeleted(maps []byte) bool {
	scratch := ""
	var stat unix.Stat_t
	if c.watch.scratch >= 0 && unix.Fstat(c.watch.scratch, &stat) == nil {
		scratch = fmt.Sprintf("%02x:%02x", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	}
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		// address permissions offset device inode path
		path, deleted := strings.CutSuffix(lines.Text(), deletedMark)
		if !deleted {
			continue
		}
		fields := strings.Fields(path)
		if len(fields) < 6 || fields[3] == scratch || memoryPath(fields[5]) {
			continue
		}
		return true
	}
	return false
}

// memoryPath knows the names that the kernel gives memory. No file of a workspace has
// one: they are not below any directory.
func memoryPath(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/SYSV") || path == "/dev/zero"
}

// holdsDescriptors says whether a socket of a thread has descriptors in it that
// nobody has received.
func holdsDescriptors(proc int, thread string) bool {
	for _, name := range namesIn(proc, thread+"/fdinfo") {
		if numberIn(readAt(proc, thread+"/fdinfo/"+name), "scm_fds:") > 0 {
			return true
		}
	}
	return false
}
