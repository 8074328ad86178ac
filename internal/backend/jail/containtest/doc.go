// Package containtest tries to break out of the jail, from inside a command.
//
// Each attempt names the wall that it tries and has a proof that it can succeed: naked, or
// without that wall. The attempts run against the native backend and bubblewrap. Files are
// named by what they attack. The guest is a copy of the test's own program.
package containtest
