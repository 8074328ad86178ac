//go:build linux

package confine

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// program is all that a child does before execve: a list of system calls.
type program struct {
	calls   []call
	steps   []step
	control uintptr // where the child reports a failure
	report  *report
	shared  bool  // the child uses our memory until execve; see share_linux.go
	pid     int32 // of the child, set by the kernel
	kept    []any // keeps alive what the arguments point to
}

// step is a named part of the program.
type step struct {
	name string
	ns   bool // a failure means that namespaces do not work here
}

// call is one system call. Address arguments point to values that the program keeps.
type call struct {
	number uintptr
	args   [6]uintptr
	step   int
	result uintptr
	// The argument borrower is the result of the earlier call lender, if that is not
	// negative. There may be a second pair.
	lender, borrower   int
	lender2, borrower2 int
	// These errors are ignored.
	accepts [2]syscall.Errno
	// After this error the call before is made again, and then this one, up to so many
	// times.
	again syscall.Errno
	tries int
	// positive says that a result of 0 is a failure: the other end is closed.
	positive bool
	// store, if not nil, is where the result goes, inside a value that a later call
	// points to.
	store *int32
}

// report is the child's only message, sent if a call failed.
type report struct {
	mark        byte
	call, errno uint16
}

const reportMark = 'F'

func newProgram(control int) *program {
	return &program{calls: make([]call, 0, 256), control: uintptr(control), report: &report{mark: reportMark}, shared: severalCPUs()}
}

func (p *program) step(name string, ns bool) {
	p.steps = append(p.steps, step{name, ns})
}

// call adds a call to the last step.
func (p *program) call(number uintptr, args ...uintptr) *call {
	c := call{number: number, step: len(p.steps) - 1, lender: -1, lender2: -1}
	copy(c.args[:], args)
	p.calls = append(p.calls, c)
	return &p.calls[len(p.calls)-1]
}

// last is the index of the last call, for a call that borrows its result.
func (p *program) last() int { return len(p.calls) - 1 }

// borrow makes the call take an earlier result as one of its arguments.
func (c *call) borrow(lender, argument int) *call {
	c.lender, c.borrower = lender, argument
	return c
}

func (c *call) alsoBorrow(lender, argument int) {
	c.lender2, c.borrower2 = lender, argument
}

func (c *call) accept(errnos ...syscall.Errno) *call {
	copy(c.accepts[:], errnos)
	return c
}

// keep returns the address of a value that lives as long as the program. Values on Go's
// heap do not move.
func keep[T any](p *program, value *T) uintptr {
	p.kept = append(p.kept, value)
	return uintptr(unsafe.Pointer(value))
}

// text returns the address of a C string. It contains no NUL: paths and arguments are
// checked where they come in.
func (p *program) text(s string) uintptr {
	data := append([]byte(s), 0)
	return keep(p, &data[0])
}

// texts returns the address of an array of C strings.
func (p *program) texts(list []string) uintptr {
	array := make([]uintptr, len(list)+1)
	for i, s := range list {
		array[i] = p.text(s)
	}
	return keep(p, &array[0])
}

// failure parses the child's report.
func (p *program) failure(message []byte) (*SetupError, bool) {
	if len(message) != int(unsafe.Sizeof(report{})) || message[0] != reportMark {
		return nil, false
	}
	r := *(*report)(unsafe.Pointer(&message[0]))
	if int(r.call) >= len(p.calls) {
		return nil, false
	}
	s := p.steps[p.calls[r.call].step]
	return setupError(s.name, syscall.Errno(r.errno), s.ns), true
}

func setupError(step string, err error, namespace bool) *SetupError {
	e := &SetupError{Step: step, Cause: err.Error(), Namespace: namespace}
	if errors.As(err, &e.Errno) {
		e.Cause = fmt.Sprintf("%s (%s)", unix.ErrnoName(e.Errno), e.Errno.Error())
	}
	return e
}
