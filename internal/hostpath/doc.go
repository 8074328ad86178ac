// Package hostpath decides which files of the host may be trusted by their path alone:
// which directories a guest could have written, and where to search for programs.
//
// Cordon searches for programs by name (an interpreter, bubblewrap, its own service). A
// guest may have put a file of that name where the search would find it: a command can
// write to its workspace, and workspaces are where users work. So the search skips every
// directory that a guest could have written, and every link in one. Only a path that the
// user names is used as it is.
//
// Guests lists those directories, Resolve returns every link on the path to a file, and
// FindProgram is cordon's only search along PATH.
package hostpath
