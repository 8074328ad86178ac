// Package hostpath decides which files of the host may be trusted by their
// path alone: which directories a guest could have written, and where a program
// may be looked for.
//
// Cordon looks for programs by name (an interpreter, bubblewrap, its own
// service). A guest may have put a file of that name where the search would
// find it: a command can write its workspace, and workspaces are where users
// work. So the search takes nothing from a directory that a guest could have
// written, nor through a link that lies in one. Only a path that the user names
// is used as it is.
//
// Guests lists those directories, Resolve shows every link on the way to a
// file, and FindProgram is the only search along PATH in cordon.
package hostpath
