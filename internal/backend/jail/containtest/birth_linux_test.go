package containtest

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// birth is one way to get a file that runs as its owner. An empty one is enough: root, outside,
// does not remove the bits when it copies a program into it.
type birth struct {
	name string
	// file makes the call and returns its result, which may be a descriptor.
	file func(name string, mode uintptr) (int, error)
	// maybe is why it may be impossible on this kernel.
	maybe string
}

const (
	newFile  = unix.O_CREAT | unix.O_RDWR | unix.O_CLOEXEC
	unnamed  = unix.O_TMPFILE | unix.O_RDWR | unix.O_CLOEXEC
	rubbish  = uintptr(1)<<16 | high // bits that the kernel ignores and that may confuse a filter
	noUnname = "the file system has no files without a name"
)

// births are the ways that every architecture has; oldBirths are those of older architectures
// only.
func births() []birth {
	return slices.Concat(oldBirths, []birth{
		{name: "openat", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_OPENAT, name, newFile, mode)
		}},
		{name: "openat with rubbish", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_OPENAT, name, newFile|high, mode|rubbish)
		}},
		{name: "openat without a name", maybe: noUnname, file: func(name string, mode uintptr) (int, error) {
			fd, err := callAt(unix.SYS_OPENAT, ".", unnamed, mode)
			return named(name, fd, err)
		}},
		{name: "openat2", file: func(name string, mode uintptr) (int, error) {
			return unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{Flags: newFile, Mode: uint64(mode)})
		}},
		{name: "openat2 without a name", maybe: noUnname, file: func(name string, mode uintptr) (int, error) {
			fd, err := unix.Openat2(unix.AT_FDCWD, ".", &unix.OpenHow{Flags: unnamed, Mode: uint64(mode)})
			return named(name, fd, err)
		}},
		{name: "mknodat", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_MKNODAT, name, unix.S_IFREG|mode, 0)
		}},
		{name: "mknodat without a type", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_MKNODAT, name, mode, 0)
		}},
		{name: "mknodat with rubbish", file: func(name string, mode uintptr) (int, error) {
			return callAt(unix.SYS_MKNODAT, name, unix.S_IFREG|mode|rubbish, 0)
		}},
		{name: "fchmod", file: func(name string, mode uintptr) (int, error) {
			return later(name, func(fd int) (int, error) { return fchmod(fd, mode) })
		}},
		{name: "fchmod with rubbish", file: func(name string, mode uintptr) (int, error) {
			return later(name, func(fd int) (int, error) { return fchmod(fd, mode|rubbish) })
		}},
		{name: "fchmodat", file: func(name string, mode uintptr) (int, error) {
			return later(name, func(int) (int, error) { return callAt(unix.SYS_FCHMODAT, name, mode) })
		}},
		{name: "fchmodat2", maybe: "kernels before 6.6 have no such call", file: func(name string, mode uintptr) (int, error) {
			return later(name, func(int) (int, error) { return callAt(unix.SYS_FCHMODAT2, name, mode, 0) })
		}},
	})
}

// later creates a plain file, and then changes its mode.
func later(name string, change func(fd int) (int, error)) (int, error) {
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

// named links a file that was created without a name.
func named(name string, fd int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	return fd, unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

func birthAttempts() []attempt {
	all := []attempt{{name: "set-user-id by the library", sh: `python3 -c "$program" && held`,
		told: map[string]any{"program": birthsByLibrary}, touched: privilegedFiles, proof: naked}}
	for _, b := range births() {
		all = append(all, attempt{
			name: "set-user-id: " + b.name, act: "be privileged", told: map[string]any{"way": b.name}, touched: privilegedFiles,
			proof: proof{naked: true, maybe: b.maybe},
		})
	}
	return all
}

// birthsByLibrary uses the functions of libc, which choose the system calls.
const birthsByLibrary = `
import ctypes, os
libc = ctypes.CDLL(None)
for mode in 0o6755, 0o4755, 0o2755:
    name = lambda way: b"%s%o" % (way, mode)
    libc.open(name(b"open"), os.O_CREAT | os.O_RDWR, mode)
    libc.open64(name(b"open64"), os.O_CREAT | os.O_RDWR, mode)
    libc.openat(-100, name(b"openat"), os.O_CREAT | os.O_RDWR, mode)
    libc.creat(name(b"creat"), mode)
    libc.mknod(name(b"mknod"), 0o100000 | mode, 0)
    libc.mknodat(-100, name(b"mknodat"), 0o100000 | mode, 0)
    fd = libc.open(b".", os.O_TMPFILE | os.O_RDWR, mode)
    libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, name(b"unnamed"), 0x400)
`

// bePrivileged tries one way with each of the two bits, and with both.
func bePrivileged(t told) error {
	all := births()
	at := slices.IndexFunc(all, func(b birth) bool { return b.name == t.text("way") })
	if at < 0 {
		return broken("there is no way %s", t.text("way"))
	}
	ways := map[string]error{}
	for _, mode := range []uintptr{0o6755, 0o4755, 0o2755} {
		name := fmt.Sprintf("%o", mode)
		_, err := all[at].file(name, mode)
		if info, found := os.Lstat(name); found == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			err = nil // whatever the call returned
		} else if err == nil {
			err = errors.Join(found, errors.New("it came without the bits"))
		}
		ways[name] = err
	}
	return anyOf(ways)
}
