package containtest

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// setidMethod creates a file with the set-user-id or set-group-id bit. An empty file is enough:
// if root copies a program into it outside, the bits stay.
type setidMethod struct {
	name string
	// file makes the call and returns its result, which may be a descriptor.
	file func(name string, mode uintptr) (int, error)
	// skipReason says why the method may be impossible on this kernel.
	skipReason string
}

const (
	newFile        = unix.O_CREAT | unix.O_RDWR | unix.O_CLOEXEC
	unnamed        = unix.O_TMPFILE | unix.O_RDWR | unix.O_CLOEXEC
	ignoredBits    = uintptr(1)<<16 | high // bits that the kernel ignores and that may confuse a filter
	noUnnamedFiles = "the file system does not support O_TMPFILE"
)

// setidMethods returns the methods of every architecture and legacySetidMethods, which only
// older architectures have.
func setidMethods() []setidMethod {
	return slices.Concat(legacySetidMethods, []setidMethod{
		{name: "openat", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_OPENAT, name, newFile, mode)
		}},
		{name: "openat with ignored bits", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_OPENAT, name, newFile|high, mode|ignoredBits)
		}},
		{name: "openat with O_TMPFILE", skipReason: noUnnamedFiles, file: func(name string, mode uintptr) (int, error) {
			fd, err := callAt(unix.SYS_OPENAT, ".", unnamed, mode)
			return linkUnnamed(name, fd, err)
		}},
		{name: "openat2", file: func(name string, mode uintptr) (int, error) {
			return unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{Flags: newFile, Mode: uint64(mode)})
		}},
		{name: "openat2 with O_TMPFILE", skipReason: noUnnamedFiles, file: func(name string, mode uintptr) (int, error) {
			fd, err := unix.Openat2(unix.AT_FDCWD, ".", &unix.OpenHow{Flags: unnamed, Mode: uint64(mode)})
			return linkUnnamed(name, fd, err)
		}},
		{name: "mknodat", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_MKNODAT, name, unix.S_IFREG|mode, 0)
		}},
		{name: "mknodat without a type", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_MKNODAT, name, mode, 0)
		}},
		{name: "mknodat with ignored bits", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_MKNODAT, name, unix.S_IFREG|mode|ignoredBits, 0)
		}},
		{name: "fchmod", file: func(name string, mode uintptr) (int, error) {
			return createThenChmod(name, func(fd int) (int, error) { return fchmod(fd, mode) })
		}},
		{name: "fchmod with ignored bits", file: func(name string, mode uintptr) (int, error) {
			return createThenChmod(name, func(fd int) (int, error) { return fchmod(fd, mode|ignoredBits) })
		}},
		{name: "fchmodat", file: func(name string, mode uintptr) (int, error) {
			return createThenChmod(name, func(int) (int, error) { return callAt(unix.SYS_FCHMODAT, name, mode) })
		}},
		{name: "fchmodat2", skipReason: "kernels before 6.6 have no such call", file: func(name string, mode uintptr) (int, error) {
			return createThenChmod(name, func(int) (int, error) { return callAt(unix.SYS_FCHMODAT2, name, mode, 0) })
		}},
	})
}

// createThenChmod creates an ordinary file and then changes its mode.
func createThenChmod(name string, change func(fd int) (int, error)) (int, error) {
	fd, err := unix.Open(name, newFile, 0o755)
	if err != nil {
		return -1, broken("%v", err)
	}
	return change(fd)
}

func fchmod(fd int, mode uintptr) (int, error) {
	if _, _, errno := unix.Syscall(unix.SYS_FCHMOD, uintptr(fd), mode, 0); errno != 0 {
		return -1, errno
	}
	return 0, nil
}

// linkUnnamed gives a name to a file that was created with O_TMPFILE.
func linkUnnamed(name string, fd int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	return fd, unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

func setidAttempts() []attempt {
	all := []attempt{{name: "set-user-id by libc", sh: `python3 -c "$program" && held`,
		params: map[string]any{"program": setidByLibc}, touched: privilegedFiles, proof: naked}}
	for _, m := range setidMethods() {
		all = append(all, attempt{
			name: "set-user-id: " + m.name, act: "create set-user-id file", params: map[string]any{"method": m.name}, touched: privilegedFiles,
			proof: proof{naked: true, skipReason: m.skipReason},
		})
	}
	return all
}

// setidByLibc calls libc, which chooses the system calls.
const setidByLibc = `
import ctypes, os
libc = ctypes.CDLL(None)
for mode in 0o6755, 0o4755, 0o2755:
    name = lambda function: b"%s%o" % (function, mode)
    libc.open(name(b"open"), os.O_CREAT | os.O_RDWR, mode)
    libc.open64(name(b"open64"), os.O_CREAT | os.O_RDWR, mode)
    libc.openat(-100, name(b"openat"), os.O_CREAT | os.O_RDWR, mode)
    libc.creat(name(b"creat"), mode)
    libc.mknod(name(b"mknod"), 0o100000 | mode, 0)
    libc.mknodat(-100, name(b"mknodat"), 0o100000 | mode, 0)
    fd = libc.open(b".", os.O_TMPFILE | os.O_RDWR, mode)
    libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, name(b"unnamed"), 0x400)
`

// createSetid tries one method with each of the two bits, and with both.
func createSetid(p params) error {
	all := setidMethods()
	at := slices.IndexFunc(all, func(m setidMethod) bool { return m.name == p.text("method") })
	if at < 0 {
		return broken("unknown method %s", p.text("method"))
	}
	results := map[string]error{}
	for _, mode := range []uintptr{0o6755, 0o4755, 0o2755} {
		name := fmt.Sprintf("%o", mode)
		_, err := all[at].file(name, mode)
		if info, found := os.Lstat(name); found == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			err = nil // regardless of what the call returned
		} else if err == nil {
			err = errors.Join(found, errors.New("the file does not have the bits"))
		}
		results[name] = err
	}
	return anyOf(results)
}
