// Package guestfs is what the file systems of a WASI guest have in common, whatever lies
// behind them: one count of open files for all of its mounts, what an open asks for, and
// the errors that WASI has and wazero does not, which Errors brings to the guest.
package guestfs
