// Package guestfs is the common part of a WASI guest's file systems: a count of open files for
// all mounts, the parsing of open flags, and the errors that WASI has and wazero does not,
// which Errors delivers to the guest.
package guestfs
