// Package scratch is a WASI guest's own /tmp: wazero's experimental/sys.FS that
// lies wholly in memory, is empty at the start and gone with the guest.
//
// # Tasks
//
//	tmp := scratch.New(scratch.Limits{…})   // once for a guest; allocates one struct
//	config.WithSysFSMount(tmp, "/tmp")
//	tmp.Allow(16 << 20)                     // its size, once that is known; none before
//	used := tmp.Used()
//
// There is nothing to close: the garbage collector frees the FS.
//
// # The walls
//
//   - Size. A file counts by the pages of 4 KiB that have been written to, so that
//     a hole costs nothing and saves nothing. Each name counts EntryCost besides,
//     that of a directory twice, and a symbolic link its text: no number of empty files
//     takes more memory than it counts. What is removed is given back, with the
//     last name and the last open handle. A write that does not fit writes nothing.
//   - Open files. Limits.Files counts them, together with those of other mounts. One
//     handle of the directory itself is not counted, because wazero needs it.
//   - Names have at most 255 bytes, and paths 4096, which bounds the depth in which
//     anything can be made. Directories that are moved can lie deeper: as deep as there
//     are directories. Nothing here is recursive.
//   - Links. A path follows at most 40. Nothing leads out, because nothing is there:
//     a link that would, by ".." or by a path outside of Limits.Guest, can be made
//     and read, and following it is EPERM, as it is in package rootfs.
//   - Time. A read gives at most 1 MiB, and a directory at most 256 names at once.
//
// # As on POSIX
//
// Files that are open survive their name. Rename replaces. Times come from
// Limits.Now, which is the guest's clock. The differential test compares all this
// with the host's own file system.
//
// # And not as there
//
//   - Modes are kept, and mean nothing.
//   - Reading does not change the time of access.
//   - A directory that is being listed shows nothing that came after the listing began,
//     so that renaming what is listed comes to an end.
//   - fd_allocate makes a file longer, and reserves nothing.
//   - Opening to truncate needs the right to write, as in package rootfs.
//
// # Errors that wazero does not know
//
// wazero has no ENOSPC: it reaches the guest as EIO, unless the mount is watched: see
// guestfs.Errors.
package scratch
