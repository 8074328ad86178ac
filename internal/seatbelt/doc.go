// Package seatbelt writes profiles for macOS's sandbox: what a process may reach becomes
// the text that sandbox-exec compiles. It is pure, and the same on every system, so that
// its rules are tested where there is no Mac (reader_test.go reads them back and decides
// as Seatbelt does).
//
//	(version 1)
//	(deny default)                  everything that no rule below allows
//	(allow OPERATION FILTER …)      any of the filters is enough; the last rule
//	                                that matches decides
//
// # What it relies on
//
// Paths are compared with the real ones: /tmp is /private/tmp there, and a rule for the
// former matches nothing. So all paths have to be without links; [Compile] refuses the
// three that it knows to be links. A path that a rule misses is denied, not allowed.
//
// # What this does not stop
//
// Whatever an allowed operation can do. System calls that Seatbelt has no operation for
// are not filtered; there is nothing like seccomp. The kernel's name, version and host
// name can be read. Seatbelt reports a denial to the process, and not to us.
package seatbelt
