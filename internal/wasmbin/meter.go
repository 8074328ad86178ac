package wasmbin

import "fmt"

// Grain is how finely a module is counted.
type Grain int

// The grains; see the package comment.
const (
	Exact Grain = iota
	Coarse
	// Uncounted leaves a module as it was, so that nothing can stop it: to see what
	// counting costs.
	Uncounted
)

// Metering says how a module is rewritten.
type Metering struct {
	Grain Grain
	// Stack has the depth of calls counted too.
	Stack bool
	// WithoutData leaves out what is written into the module's memory when it is
	// instantiated: it will be there already. See Module.Data.
	WithoutData bool
}

// What a metered module wants of the host, and gives it. No module may have such names
// of its own.
const (
	// HostModule has Refill and Overflow.
	HostModule = "cordon:meter"
	// Refill is (left i64) -> i64: nothing is left, left is less than 0, and the result
	// is what is left from now on. It does not return if the guest is to end.
	Refill = "refill"
	// Overflow is (): calls are too deep. It does not return.
	Overflow = "overflow"
	// CounterExport is the global with what is left, of type i64. It begins with 0, so
	// that Refill is called soon. It can be less than 0 when a call returns: what was
	// done since the last look is owed.
	CounterExport = "cordon:left"
	// StackExport is the global with the room for calls that is left, an i32, in words. It is
	// to be set by the host before each call, because functions do not give back what
	// they took; a start function, which runs before that, has 64 Ki words.
	StackExport = "cordon:stack"
)

const startRoom = 64 << 10

// frameCost is what a call takes without its values, in words of the stack: where to
// return to, and registers that are kept for the caller.
const frameCost = 32

// bulkShift is how many bytes, or elements of tables, are as much work as one
// instruction: 64.
const bulkShift = 6

const pageSize = 64 << 10

// added is how many functions a metered module imports beside those of the module.
const added = 2

// moved is where a function is in a metered module: ours are the last of those that
// are imported.
func (m *Module) moved(function uint32) uint32 {
	if int(function) < m.imported {
		return function
	}
	return function + added
}

// meter is a rewriting under way.
type meter struct {
	*Module
	Metering
	counter, room    uint32 // the globals
	refill, overflow uint32 // the functions of the host

	// code is what the functions have become, and asks the types of what goes through
	// the functions that call refill, which are behind them.
	code []byte
	asks [][]byte
}

// Meter gives the module with its counters. A module that would be too much for the
// engine's compiler is refused with an *Error, unless it is known code: that is allowed
// to be large.
func (m *Module) Meter(how Metering) ([]byte, error) {
	if err := m.checkNames(); err != nil {
		return nil, err
	}
	if m.bomb != nil && how.Grain != Coarse {
		return nil, m.bomb
	}
	t := &meter{Module: m, Metering: how}
	t.counter, t.room = uint32(m.globals), uint32(m.globals)+1
	t.refill, t.overflow = uint32(m.imported), uint32(m.imported)+1
	t.code = t.codeSection() // first: it says which functions of ours there are
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, id := range order {
		if data := t.section(id); len(data) > 0 {
			out = appendSection(out, id, data)
		}
	}
	if names := t.functionNames(); names != nil {
		out = appendSection(out, customSection, names)
	}
	return out, nil
}

func (m *Module) checkNames() error {
	for _, i := range m.Imports {
		if i.Module == HostModule {
			return fmt.Errorf("the module imports %q, which is not for modules", i.Module)
		}
	}
	for _, e := range m.Exports {
		if e.Name == CounterExport || e.Name == StackExport {
			return fmt.Errorf("the module exports %q, which is not for modules", e.Name)
		}
	}
	return nil
}
