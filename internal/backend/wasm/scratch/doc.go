// Package scratch is the private /tmp of a WASI guest: an experimental/sys.FS of wazero that is
// entirely in memory, empty at the start, and freed with the guest.
//
// # Tasks
//
//	tmp := scratch.New(scratch.Limits{…})   // once for a guest; allocates one struct
//	config.WithSysFSMount(tmp, "/tmp")
//	tmp.Allow(16 << 20)                     // its size; 0 until then
//	used := tmp.Used()
//	config.WithSysFSMount(tmp.View("work"), "/work") // a directory in it as a mount
//	tree, err := tmp.Tree("work", time.Now)          // the same for the host
//	tmp.Copy(other)                                  // for a fork
//
// There is nothing to close: the garbage collector frees the FS.
//
// # The walls
//
//   - Size. A file counts as its written pages of 4 KiB, so that holes cost nothing. In
//     addition each name counts EntryCost, that of a directory twice, and a symbolic link its
//     text, so that empty files do not take more memory than is counted. The space of a file
//     is released with its last name and its last open handle. A write that does not fit
//     writes nothing.
//   - Open files. Limits.Files counts them, together with those of other mounts. One handle
//     of the directory itself is not counted, because wazero needs it.
//   - Names have at most 255 bytes and paths 4096, which bounds the depth at which files can
//     be created. Moved directories can be deeper, up to the number of directories. No
//     function here is recursive.
//   - Links. A path follows at most 40 links. No link can lead out, because there is nothing
//     outside: a link with ".." beyond the top, or to a path outside Limits.Guest, can be
//     created and read, but following it gives EPERM, as in package rootfs.
//   - Time. A read returns at most 1 MiB, and a directory at most 256 names at a time.
//
// # As on POSIX
//
// An open file outlives its name. Rename replaces the target. Times come from Limits.Now, the
// guest's clock. A differential test compares the behavior with the host's file system.
//
// # Not as on POSIX
//
//   - Modes are stored but have no effect.
//   - Reading does not change the access time.
//   - A listing does not show names that were added after it began, so that a loop that
//     renames listed files ends.
//   - fd_allocate extends a file but reserves nothing.
//   - O_TRUNC requires opening for writing, as in package rootfs.
//
// # Errors that wazero does not know
//
// wazero lacks ENOSPC: it reaches the guest as EIO, unless the mount is watched: see
// guestfs.Errors.
package scratch
