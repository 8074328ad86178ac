// Package seatbelt writes profiles for macOS's sandbox: it converts the access of a process to
// the text that sandbox-exec compiles. It works the same on every system, so that its rules
// can be tested without a Mac (reader_test.go parses them and decides as Seatbelt does).
//
//	(version 1)
//	(deny default)                  everything that no rule below allows
//	(allow OPERATION FILTER …)      any of the filters is enough; the last rule
//	                                that matches decides
//
// # What it relies on
//
// Rules match real paths: /tmp is /private/tmp, and a rule for /tmp matches nothing. So paths
// must not contain links; [Compile] refuses the three that are known to be links. A path that
// no rule matches is denied.
//
// # What this does not stop
//
// Misuse of allowed operations. System calls without an operation of Seatbelt are not filtered;
// there is nothing like seccomp. The kernel's name and version and the host name can be read.
// Seatbelt reports a denial only to the process, not to cordon.
package seatbelt
