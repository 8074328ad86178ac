// Package run holds what goes in and what comes out: Request, Result and the
// classes of our own failures. Every frontend (the Go API, the command line, JSON
// lines) uses these types and no others.
//
// Two kinds of bad news are kept apart. A guest that failed, timed out or hit
// a wall is a Result. A request that is wrong, a host that cannot give a
// required wall, or a failure of cordon itself is an error with a Class.
package run
