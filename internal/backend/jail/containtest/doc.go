// Package containtest tries to break out of the jail, from inside a command.
//
// Each attempt names the wall that it attacks and has a proof that it can succeed: naked, that
// is without any sandbox, or without that wall. The attempts run against the native backend
// and bubblewrap. Files are named after their target. The guest is a copy of the test binary.
package containtest
