// Package rootfs gives a WASI guest access to exactly the directories and files that a policy
// grants. It implements wazero's experimental/sys.FS with Go's os.Root, which walks each path
// one name at a time and never lets the kernel follow a link, so that no race between a check
// and its use leads out.
//
// # Tasks
//
//	roots, err := rootfs.Open(grants)       // once for a Runner
//	set := roots.NewSet(limits)             // once for a guest; costs no system call
//	for _, m := range set.Mounts() {        // for wazero's FSConfig
//		config = config.WithSysFSMount(m.FS, m.Guest)
//	}
//	added := set.Added()                    // growth of the guest's files
//	err = set.Close()                       // ends a call in progress, closes all files
//	err = roots.Close()
//
// # The walls
//
//   - Paths. A path that leaves the directory, by "..", by a link or by a magic link of
//     /proc, gives EPERM and is reported to Limits.Denied. A relative link that stays inside
//     works. An absolute link always leads out, even to a granted path. Open checks that
//     os.Root refuses ".." before any guest runs.
//   - Links. A guest cannot create a link that points outside, because a program of the host
//     might follow it later. It cannot read the text of such a link, which is a path of the
//     host.
//   - Kinds. Only files and directories can be opened; FIFOs, devices and sockets give EPERM.
//     Each file is checked before it is opened, because opening has effects, and again when
//     it is open, because it may have been replaced. No open blocks.
//   - Read-only grants. Every change, and opening a file to write, gives EROFS.
//   - Set-user-id. No mode beyond 0o755 is created, and a file with such a bit is not opened
//     to write, because for root the kernel would keep the bit.
//   - Disk. Each name that a guest creates counts as EntryCost and each file as its size,
//     sparse or not. Removing, truncating and replacing a file by rename releases its part,
//     so that a guest may use temporary files. The sum never falls below zero, so that
//     removing existing files gives no credit. A file that is removed while it is open, or
//     that has other names, is not released (on Windows none is, because the number of names
//     is not known).
//   - Open files. Limits.Files counts them, together with those of other mounts, except one
//     handle for each mount, which wazero needs. Set.Close closes all that are left.
//   - Time. Files are read and written in pieces of at most 1 MiB, directories in pieces of
//     1024 names. Set.Close makes the next piece fail, so that the end of a run does not wait
//     for a long call.
//   - Details of the host. The device number of a file is that of its mount, counted from
//     one. Inode numbers are those of the host.
//
// # A grant of a file
//
// WASI can only grant directories. The guest sees the directory of the file, with only that
// file in it. It can read the file, and with a write grant change it, but not remove, rename or
// link it, because that would change the directory. If the name is a link when the grant is
// opened, the grant is for its target; if it becomes a link later, it is not followed.
//
// If a granted directory contains a granted file, the whole directory stays visible. Of two
// grants for the same path, the wider one counts.
//
// # Errors that wazero does not know
//
// wazero lacks ENOSPC, EMFILE and other errors. They reach the guest as EIO, unless the mount
// is watched: see guestfs.Errors.
//
// # What this does not stop
//
//   - Hard links and mounts inside a granted directory are accessible.
//   - wazero itself refuses a path with too many "..", and libraries in the guest refuse
//     absolute paths outside all mounts. These attempts are not reported.
//   - A guest can move a link to a directory in which its target is outside. The guest gains
//     nothing, but programs of the host should be careful.
//   - An existing sparse file can be filled, because its size does not change.
//   - Appending is not atomic with respect to programs of the host.
//   - Package os sets the times of a file by its path: if a program of the host replaces a
//     single granted file by a link at that moment, the times of another file of its
//     directory are set.
//   - Changes that other programs make to a granted directory while a guest runs.
package rootfs
