// Package run defines the input and output of cordon: Request, Result and the classes
// of errors. Every frontend (the Go API, the command line, JSON lines, HTTP, MCP) uses
// these types.
//
// A guest that fails, times out or hits a wall gives a Result. A wrong request, a host
// that lacks a required wall, or a failure of cordon itself gives an error with a
// Class.
package run
