package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The files of a cgroup are opened with plain system calls. os.OpenFile would add them to
// Go's poller, because kernfs files can be polled, and os.WriteFile would try to create a
// missing file, for which cgroupfs returns EPERM instead of ENOENT.

// again repeats a call that a signal has interrupted. Go sends itself signals to preempt
// goroutines, and the kernel stops reclaiming with EINTR if one is pending.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func open(path string, flags int) (int, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, flags|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

func writeFD(fd int, value string) error {
	_, err := again(func() (int, error) { return unix.Pwrite(fd, []byte(value), 0) })
	return err
}

func write(path, value string) error {
	fd, err := open(path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := writeFD(fd, value); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// readFD reads a file of a few lines, at most a page.
func readFD(fd int) ([]byte, error) {
	b := make([]byte, 4096)
	n, err := again(func() (int, error) { return unix.Pread(fd, b, 0) })
	return b[:max(n, 0)], err
}

func read(path string) ([]byte, error) {
	fd, err := open(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b, err := readFD(fd)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b, nil
}

func number(b []byte, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
}

// field finds "name value" among the lines of a file.
func field(path, name string) (int64, error) {
	b, err := read(path)
	if err != nil {
		return 0, err
	}
	return fieldOf(b, path, name)
}

func fieldOf(b []byte, path, name string) (int64, error) {
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return number([]byte(value), nil)
		}
	}
	return 0, fmt.Errorf("%w: %s has no field %s", ErrUnsupported, path, name)
}

// pids returns the processes in a group, 0 for one that is not visible in our pid namespace.
// Of many processes it returns the first few hundred.
func pids(dir string) ([]int, error) {
	b, err := read(dir + "/cgroup.procs")
	if err != nil {
		return nil, err
	}
	// If the page ends inside a number, the rest would be another pid.
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	var all []int
	for _, word := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(word); err == nil {
			all = append(all, pid)
		}
	}
	return all, nil
}

// removeTree removes a group after those below it. The files in a group need not be
// removed. It continues after an error, to leave as little as possible.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	var first error
	for _, e := range entries {
		if e.IsDir() {
			if err := removeTree(dir + "/" + e.Name()); err != nil && first == nil {
				first = err
			}
		}
	}
	if first != nil {
		return first
	}
	return remove(dir)
}

func remove(dir string) error {
	_, err := again(func() (int, error) { return 0, unix.Rmdir(dir) })
	if err != nil && err != unix.ENOENT {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}
