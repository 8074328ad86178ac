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

// accountedFileSystems are those for which the kernel counts the bytes that a process
// writes, when they reach the page cache (CONFIG_TASK_IO_ACCOUNTING). It does not do so
// for tmpfs, nor for most file systems that another process or machine serves.
var accountedFileSystems = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true,
	unix.F2FS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true,
}

// kernelCountsWrites reports whether this kernel counts written bytes at all.
func kernelCountsWrites() bool {
	_, err := os.Stat("/proc/self/io")
	return err == nil
}

// written adds up the bytes that processes have written. Each process includes its dead
// threads and the children that it has waited for.
func written(p processes) (sum int64) {
	p.each(func(proc int, pid string) {
		sum += numberIn(readAt(proc, pid+"/io"), "write_bytes:")
	})
	return sum
}

// readAt reads a file below /proc. It returns nil if the process has ended.
func readAt(directory int, name string) []byte {
	fd, err := unix.Openat(directory, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // opened for reading only
	data, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	return data
}

// eachThread calls f for each thread of all processes. A thread may have its own
// descriptors, and outlive the first thread, which /proc/<pid> shows.
func eachThread(p processes, f func(proc int, thread string)) {
	p.each(func(proc int, pid string) {
		eachThreadOf(proc, pid, func(thread string) { f(proc, thread) })
	})
}

// eachThreadOf calls f for each thread of a process with its path below proc.
func eachThreadOf(proc int, pid string, f func(thread string)) {
	for _, name := range namesIn(proc, pid+"/task") {
		f(pid + "/task/" + name)
	}
}

// namesIn lists a directory below /proc. The list is incomplete if the process ends.
func namesIn(directory int, name string) []string {
	fd, err := unix.Openat(directory, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // opened for reading only
	names, _ := file.Readdirnames(-1)
	return names
}

// deleted counts the deleted files that a process of the command has open. It reports
// whether there may be others whose size it cannot see: files that a process has mapped,
// executes, or has sent to a socket where nobody received them yet.
func (c *count) deleted() (hidden bool) {
	mapped := map[string]bool{} // all threads of a process have the same maps
	eachThread(c.watch.processes, func(proc int, thread string) {
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
			hidden = err == nil && deleted && !memoryPath(path) // our init is a memfd
		}
	})
	return hidden
}

// deletedMark is what the kernel appends to the path of a deleted file.
const deletedMark = " (deleted)"

// openDeleted counts the deleted files that a thread has open, and reports whether it
// has sockets.
func (c *count) openDeleted(proc int, thread string) (sockets bool) {
	for _, name := range namesIn(proc, thread+"/fd") {
		var stat unix.Statx_t
		if unix.Statx(proc, thread+"/fd/"+name, 0, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil {
			continue // it was closed meanwhile
		}
		switch id := fileID(stat); {
		case stat.Mode&unix.S_IFMT == unix.S_IFSOCK:
			sockets = true
		case stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink > 0 || c.counted[id]:
		default:
			if _, ours := c.watch.devices[id[0]]; ours {
				c.add(stat)
			}
		}
	}
	return sockets
}

// mapsDeleted reports whether a process has mapped a deleted file of the host. Shared
// memory and files of the scratch space look the same, but have their own limits.
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

// memoryPath recognizes the names that the kernel gives to memory. A file of a workspace
// cannot have one, because these names are not below any directory.
func memoryPath(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/SYSV") || path == "/dev/zero"
}

// holdsDescriptors reports whether a socket of a thread holds descriptors that nobody
// has received.
func holdsDescriptors(proc int, thread string) bool {
	for _, name := range namesIn(proc, thread+"/fdinfo") {
		if numberIn(readAt(proc, thread+"/fdinfo/"+name), "scm_fds:") > 0 {
			return true
		}
	}
	return false
}
