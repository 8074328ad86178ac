// Package command judges a command line before it starts.
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
// "interpreter": the command itself may not be a shell, Python, awk or another program that
// runs what its arguments say, unless Scope.AllowInterpreters. The rule goes by the name of
// the file. It follows symbolic links, #! lines and well-known wrappers (env, timeout,
// find -exec, …). Only the command itself is meant: make may start sh.
//
// "path": an argument names a file that does not exist inside. Arguments that only resemble
// paths (regular expressions, sed scripts, URLs, revisions) pass.
//
// # What this does not stop
//
// Nothing: it gives a clear error early, and guards against shell injection and
// carelessness. Whatever runs, runs behind the walls of the jail, and no wall depends on
// this package. Among what passes the check:
//
//   - a copy of an interpreter under another name, and a program with one inside;
//   - programs that are no interpreters and run what an argument says:
//     git -c alias.x='!sh', make SHELL=…, tar --checkpoint-action, sed's e command,
//     sqlite3's .shell, ssh ProxyCommand, go run, flock -c, sudo -s;
//   - wrappers that are not in the list, and commands that a wrapper finds in another
//     directory or root;
//   - a file that is replaced between the check and the start;
//   - paths in files, in the input, in the environment, and those glued to an option in an
//     unusual way;
//   - the rest of a command line whose paths cost too much to follow.
package command
