// Package jobobject runs one program on Windows behind the walls of that system:
//
//   - A Job Object holds the program and all that it starts. It bounds memory, CPU
//     time and the number of processes, keeps them from the clipboard, other programs'
//     windows and the desktop, and kills them all when its last handle is closed: also when
//     cordon itself is killed.
//   - A token without privileges and without the administrators' group, at low integrity:
//     it writes nowhere but where a label allows it.
//   - An AppContainer, where the system has them: an identity that was made for this run,
//     and may open only what names it, or what is open to all such containers (Windows
//     itself, and programs that were installed for all users). Without capabilities it has
//     no network, loopback included.
//   - The only handles that the program inherits are those on a list.
//
// What it starts with is looked at from outside before its first instruction, while it is
// suspended. What is not as it should be is killed.
//
// What this does not stop: there is no filter for system calls, so that a hole in the
// kernel is within reach; and without an AppContainer the program reads what its user may
// read, and uses the network.
package jobobject
