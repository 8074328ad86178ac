package run

import (
	"errors"
	"fmt"
)

// Class sorts our own failures. A guest's failure is never one of them: it is
// a Result.
type Class string

// The classes. ExitCodes and HTTPStatus must know each of them.
const (
	Invalid       Class = "invalid"        // the request or the policy is wrong
	Forbidden     Class = "forbidden"      // the caller may not ask for this
	Unknown       Class = "unknown"        // it names what does not exist
	Unsupported   Class = "unsupported"    // this host cannot give what the policy requires
	NotExecutable Class = "not_executable" // found, but cannot be run
	NotFound      Class = "not_found"      // the interpreter or file is not there
	Busy          Class = "busy"           // too much under way; try again
	Closed        Class = "closed"         // the Runner is closed
	Internal      Class = "internal"       // ours to mend
)

// Classes lists every class.
var Classes = []Class{Invalid, Forbidden, Unknown, Unsupported, NotExecutable, NotFound, Busy, Closed, Internal}

// ExitCodes is the command line's answer to each class.
var ExitCodes = map[Class]int{
	Invalid: 2, Forbidden: 2, Unknown: 2, Unsupported: 125, NotExecutable: 126, NotFound: 127, Busy: 75, Closed: 125, Internal: 125,
}

// HTTPStatus is the service's answer to each class.
var HTTPStatus = map[Class]int{
	Invalid: 400, Forbidden: 403, Unknown: 404, Unsupported: 501, NotExecutable: 500, NotFound: 500, Busy: 429, Closed: 503, Internal: 500,
}

// Error is a failure of ours, of the host or of the request.
type Error struct {
	Class   Class
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, run.ErrUnsupported) work by class.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Class == e.Class
}

// Sentinels for errors.Is.
var (
	ErrInvalid     error = &Error{Class: Invalid}
	ErrUnsupported error = &Error{Class: Unsupported}
	ErrNotFound    error = &Error{Class: NotFound}
	ErrBusy        error = &Error{Class: Busy}
	ErrClosed      error = &Error{Class: Closed}
)

// Errorf makes an Error; each %w keeps a cause.
func Errorf(class Class, format string, args ...any) *Error {
	return Wrap(class, fmt.Errorf(format, args...))
}

// Wrap gives err a class.
func Wrap(class Class, err error) *Error {
	return &Error{Class: class, Message: err.Error(), Err: err}
}

// ClassOf finds the class of err; an error without one is Internal.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Internal
}
