package containtest

import "golang.org/x/sys/unix"

// oldBirths use old calls that this architecture still has.
var oldBirths = []birth{
	{name: "open", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_OPEN, name, newFile, mode)
	}},
	{name: "open with rubbish", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_OPEN, name, newFile|high, mode|rubbish)
	}},
	{name: "creat", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_CREAT, name, mode)
	}},
	{name: "creat with rubbish", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_CREAT, name, mode|rubbish)
	}},
	{name: "mknod", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_MKNOD, name, unix.S_IFREG|mode, 0)
	}},
	{name: "chmod", file: func(name string, mode uintptr) (int, error) {
		return later(name, func(int) (int, error) { return callOn(unix.SYS_CHMOD, name, mode) })
	}},
	{name: "open without a name", maybe: noUnname, file: func(name string, mode uintptr) (int, error) {
		fd, err := callOn(unix.SYS_OPEN, ".", unnamed, mode)
		return named(name, fd, err)
	}},
}
