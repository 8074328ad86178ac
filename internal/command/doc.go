// Package command looks at a command line before it starts.
//
// # Tasks
//
//	dir, err := command.Workspace("./project", false) // canonical, and not somebody's home
//	v, err := command.Check([]string{"make", "-j2"}, scope)
//	// err: nothing could be started (not found, no program, too long)
//	// v.Refusals: it could, and must not; each says why and what would be right
//	// v.Path: what to execute inside
//
// # Two rules
//
// "interpreter" is a wall of its own: the command itself may not be a shell,
// Python, awk or any other program that runs what its arguments say, unless
// Scope.AllowInterpreters. It goes by the file and not by its spelling: links,
// copies, hard links, versioned names, scripts by their #! line, and through
// programs that start others (env, timeout, find -exec, ld.so, …). Only the
// command itself is meant: make may start sh.
//
// "path" is the clear error in front of the mounts: an argument that names a
// file which will not be there inside. Arguments that only look a bit like
// paths (regular expressions, sed scripts, URLs, revisions) are let through
// when in doubt, since the mounts decide in the end.
//
// # Cost
//
// What a file is, is remembered by its identity (device, inode, size, times).
// A second look at the same command takes some dozens of microseconds. The
// first reads the file: once, in parts, and not more than readMost of it. Steps
// and system calls are counted, and a command that needs more than effortMost
// is refused.
//
// # What this does not stop
//
// The list of interpreters is a guard against shell injection and
// carelessness. It does not confine: whatever runs, runs behind the jail's
// walls, and those are what holds.
//
//   - Programs that are not interpreters but run what an argument says:
//     git -c alias.x='!sh', make SHELL=… or --eval, tar --checkpoint-action,
//     gcc -wrapper, sed's e command, sqlite3's .shell, ssh ProxyCommand,
//     rsync -e, socat EXEC:, go run, ed and less with their "!".
//   - A program that was compiled for the purpose, packed, or changed so that
//     nothing known is left in it.
//   - A wrapper of which not all options are known (bwrap, systemd-run) that
//     goes into another directory or root first: of those, what is found from the
//     command's own directory is looked at, and what is not passes.
//   - A file that is exchanged between the look and the start.
//   - Paths that a program reads from a file, from its input or its
//     environment, and those glued to an option in an unusual way.
package command
