// Package command checks a command line before it starts.
//
// # Tasks
//
//	dir, err := command.Workspace("./project", false) // canonical, and not somebody's home
//	v, err := command.Check([]string{"make", "-j2"}, scope)
//	// err: the command cannot be started (not found, not a program, too long)
//	// v.Refusals: it can be started but must not; each has a reason and a hint
//	// v.Path: the file to execute inside
//
// # Two rules
//
// "interpreter": the command itself may not be a shell, Python, awk or another program that
// runs code from its arguments, unless Scope.AllowInterpreters. The rule decides by the name
// of the file. It follows symbolic links, #! lines and well-known wrappers (env, timeout,
// find -exec, …). It applies only to the command itself: make may start sh.
//
// "path": an argument names a file that does not exist inside. Arguments that only resemble
// paths (regular expressions, sed scripts, URLs, revisions) pass.
//
// # What this does not stop
//
// This package is not a security boundary: it gives a clear error early, and guards against
// shell injection and carelessness. Every command runs behind the walls of the jail, and no
// wall depends on this package. The check does not find:
//
//   - a copy of an interpreter under another name, or a program that embeds one;
//   - programs that are not interpreters but can run a command from an argument:
//     git -c alias.x='!sh', make SHELL=…, tar --checkpoint-action, sed's e command,
//     sqlite3's .shell, ssh ProxyCommand, go run, flock -c, sudo -s;
//   - wrappers that are not in the list, and commands that a wrapper finds in another
//     directory or root;
//   - a file that is replaced between the check and the start;
//   - paths in files, in the input, in the environment, and those attached to an option in
//     an unusual way;
//   - problems in the rest of a command line whose paths cost too much to resolve.
package command
