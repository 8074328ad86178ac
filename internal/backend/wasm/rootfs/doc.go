// Package rootfs gives a WASI guest the directories and files that a policy grants,
// and nothing beside them. It is wazero's experimental/sys.FS over Go's os.Root,
// which walks every path one name at a time and never lets the kernel follow a
// link, so that no race between a check and its use leads out.
//
// # Tasks
//
//	roots, err := rootfs.Open(grants)       // once for a Runner
//	set := roots.NewSet(limits)             // once for a guest; costs no system call
//	for _, m := range set.Mounts() {        // for wazero's FSConfig
//		config = config.WithSysFSMount(m.FS, m.Guest)
//	}
//	added := set.Added()                    // what the guest's files grew by
//	err = set.Close()                       // ends a call in progress, closes all files
//	err = roots.Close()
//
// # The walls
//
//   - Paths. What leaves the directory is EPERM, and reported to Limits.Denied: by
//     "..", by a link, by a magic link of /proc. A link that stays inside works
//     if it is relative. An absolute one leads out by definition, even to a place
//     that is granted. Open sees, before any guest does, that os.Root refuses "..".
//   - Links. A guest makes none that points outside, since a program of the host
//     might follow it later; and it does not read the text of one that does, since
//     that is a path of the host.
//   - Kinds. Files and directories are opened; FIFOs, devices and sockets are EPERM.
//     Each is looked at before it is opened, because opening has effects, and
//     again when it is open, because it may have been exchanged. No open blocks.
//   - Reading alone. Where a grant is to read, all that changes is EROFS, and
//     so is a file that is opened to write.
//   - Set-user-id. No mode beyond 0o755 is made, and a file that has such a bit
//     is not opened to write: for root the kernel would leave the bit on it.
//   - Disk. Each name that a guest makes counts as EntryCost and each file as its
//     size, whether it is sparse or not. What is removed, cut or written over by
//     rename is given back, so that a guest may use scratch files; the sum never
//     falls below zero, so that nothing is saved up by removing what was there.
//     A file that is removed while it is open, or that has other names,
//     is not given back (on Windows none is: the number of names is not known).
//   - Open files. Limits.Files counts them, together with those of other mounts,
//     apart from one handle for each mount, which wazero needs. Set.Close closes
//     all that are left.
//   - Time. Files are read and written in pieces of at most 1 MiB, directories in
//     pieces of 1024 names. Set.Close makes the next piece fail, so that a run's
//     end need not wait for a long call.
//   - Details of the host. The device number of a file is that of its mount,
//     counted from one. Inode numbers are true.
//
// # A grant of a file
//
// WASI grants directories only. The guest sees the directory of the file with that file
// as all there is. It can be read, and where the grant is to write also changed,
// cut and grown, but not removed, renamed or linked, for that would be a change
// of the directory. If the name is a link when the grant is opened, it means the
// file behind it; if it becomes one later, it is not followed.
//
// Where a granted directory holds a granted file, the directory stays whole. Of two
// grants for the same place the wider holds.
//
// # Errors that wazero does not know
//
// wazero has no ENOSPC and no EMFILE, among others. Those of this package reach the
// guest as EIO, unless the mount is watched: see guestfs.Errors.
//
// # What this does not stop
//
//   - Hard links and mounts inside a granted directory lead where they lead.
//   - wazero refuses a path with too many ".." itself, and libraries in the guest
//     refuse absolute paths that no mount has. Such attempts are not reported.
//   - A link that is inside can be moved by the guest to where it points outside.
//     The guest gains nothing by it, a program of the host should look.
//   - A sparse file that was there before can be filled: its size stays.
//   - Appending is not atomic with programs of the host that append to the file.
//   - Package os sets the times of a file by its path: if a program of the host
//     exchanges a file that is granted alone for a link at that very moment, the
//     times of another file of that directory are set.
//   - What other programs do to a granted directory while a guest runs.
package rootfs
