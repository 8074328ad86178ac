package containtest

import "golang.org/x/sys/unix"

// legacySetidMethods use old system calls that this architecture still has.
var legacySetidMethods = []setidMethod{
	{name: "open", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_OPEN, name, newFile, mode)
	}},
	{name: "open with ignored bits", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_OPEN, name, newFile|high, mode|ignoredBits)
	}},
	{name: "creat", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_CREAT, name, mode)
	}},
	{name: "creat with ignored bits", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_CREAT, name, mode|ignoredBits)
	}},
	{name: "mknod", file: func(name string, mode uintptr) (int, error) {
		return callOn(unix.SYS_MKNOD, name, unix.S_IFREG|mode, 0)
	}},
	{name: "chmod", file: func(name string, mode uintptr) (int, error) {
		return createThenChmod(name, func(int) (int, error) { return callOn(unix.SYS_CHMOD, name, mode) })
	}},
	{name: "open with O_TMPFILE", skipReason: noUnnamedFiles, file: func(name string, mode uintptr) (int, error) {
		fd, err := callOn(unix.SYS_OPEN, ".", unnamed, mode)
		return linkUnnamed(name, fd, err)
	}},
}
