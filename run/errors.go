package run

import (
	"errors"
	"fmt"
)

// Class is the kind of an error. The failure of a guest has no class, because it is a
// Result.
type Class string

// The classes. Each frontend has an answer for each of them.
const (
	Invalid       Class = "invalid"        // the request or the policy is wrong
	Forbidden     Class = "forbidden"      // the caller may not ask for this
	Unknown       Class = "unknown"        // the request names something that does not exist
	Gone          Class = "gone"           // what the request names has ended, such as a session
	Unsupported   Class = "unsupported"    // this host lacks something that the policy requires
	NotExecutable Class = "not_executable" // found, but cannot be run
	NotFound      Class = "not_found"      // the interpreter or file does not exist
	Busy          Class = "busy"           // too many requests; try again
	Closed        Class = "closed"         // the Runner is closed
	Internal      Class = "internal"       // a bug in cordon, or a failure of the host
)

// Classes lists every class.
func Classes() []Class {
	return []Class{Invalid, Forbidden, Unknown, Gone, Unsupported, NotExecutable, NotFound, Busy, Closed, Internal}
}

// Error is a failure of cordon, of the host or of the request.
type Error struct {
	Class   Class
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// Is compares classes, for errors.Is(err, run.ErrUnsupported).
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case sentinel:
		return Class(t) == e.Class
	case *Error:
		return t.Message == "" && t.Class == e.Class
	}
	return false
}

// sentinel matches every Error of a class. Its values are constants, so that no
// package can replace them.
type sentinel Class

func (s sentinel) Error() string { return string(s) }

// Sentinels for errors.Is, one for each class.
const (
	ErrInvalid       = sentinel(Invalid)
	ErrForbidden     = sentinel(Forbidden)
	ErrUnknown       = sentinel(Unknown)
	ErrGone          = sentinel(Gone)
	ErrUnsupported   = sentinel(Unsupported)
	ErrNotExecutable = sentinel(NotExecutable)
	ErrNotFound      = sentinel(NotFound)
	ErrBusy          = sentinel(Busy)
	ErrClosed        = sentinel(Closed)
	ErrInternal      = sentinel(Internal)
)

// Errorf returns an Error; each %w wraps a cause.
func Errorf(class Class, format string, args ...any) *Error {
	return Wrap(class, fmt.Errorf(format, args...))
}

// Wrap returns err with a class.
func Wrap(class Class, err error) *Error {
	return &Error{Class: class, Message: err.Error(), Err: err}
}

// ClassOf returns the class of err, Internal for an error without one.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Internal
}
