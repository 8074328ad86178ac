// Package jobobject runs a program behind the walls of Windows:
//
//   - A Job Object contains the program and all processes that it starts. It bounds memory,
//     CPU time and the number of processes, denies the clipboard, other programs' windows and
//     the desktop, and kills all of them when its last handle is closed, even if cordon itself
//     is killed.
//   - A token without privileges and without the administrators' group, at low integrity: it
//     can write only where a label allows it.
//   - An AppContainer, if the system has them: an identity made for this run, which may open
//     only files that name it, or that are open to all containers (Windows itself, and
//     programs installed for all users). Without capabilities it has no network, not even
//     loopback.
//   - The program inherits only the handles on a list.
//
// The process is inspected from outside before its first instruction, while it is suspended. If
// a wall is missing, it is killed.
//
// What this does not stop: system calls are not filtered, so kernel bugs are reachable. Without
// an AppContainer, the program can read what its user may read, and use the network.
package jobobject
