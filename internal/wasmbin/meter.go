package wasmbin

import "fmt"

// Grain is the precision of counting.
type Grain int

// The grains; see the package comment.
const (
	Exact Grain = iota
	Coarse
	// Uncounted does not change a module, to measure what counting costs. Nothing can stop
	// it.
	Uncounted
)

// Metering says how a module is rewritten.
type Metering struct {
	Grain Grain
	// Stack also counts the depth of calls.
	Stack bool
	// WithoutData leaves out the data that is copied to memory at instantiation, for a
	// memory that already has it. See Module.Data.
	WithoutData bool
}

// Imports and exports of a metered module. No original module may have these names.
const (
	// HostModule has Refill and Overflow.
	HostModule = "cordon:meter"
	// Refill is (left i64) -> i64. It is called when the counter, left, is negative, and
	// returns its new value. It does not return if the guest has to end.
	Refill = "refill"
	// Overflow is (). It is called when calls are too deep, and does not return.
	Overflow = "overflow"
	// CounterExport is the counter, a global of type i64. It starts at 0, so that Refill is
	// called soon. It can be negative when a call returns, by the work since the last check.
	CounterExport = "cordon:left"
	// StackExport is the remaining stack in words, a global of type i32. The host must set
	// it before each call, because functions do not restore it; a start function, which runs
	// earlier, has 64 Ki words.
	StackExport = "cordon:stack"
)

const startRoom = 64 << 10

// frameCost is the stack of a call without its values, in words: the return address and saved
// registers.
const frameCost = 32

// bulkShift is the binary logarithm of how many bytes, or elements of tables, cost as much as
// one instruction: 64.
const bulkShift = 6

const pageSize = 64 << 10

// added is how many functions a metered module imports in addition.
const added = 2

// moved returns the index of a function in the metered module: our imports come after the
// module's.
func (m *Module) moved(function uint32) uint32 {
	if int(function) < m.imported {
		return function
	}
	return function + added
}

// meter is the state of rewriting a module.
type meter struct {
	*Module
	Metering
	counter, room    uint32 // the globals
	refill, overflow uint32 // the functions of the host

	// code has the rewritten functions. asks has the value types of the functions that
	// call refill, which follow them.
	code []byte
	asks [][]byte
}

// Meter returns the module with counters. It refuses a module that is too expensive to compile
// with an *Error, unless the grain is for known code, which may be large.
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
	t.code = t.codeSection() // first: it determines which of our functions are needed
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
			return fmt.Errorf("the module imports %q, which is reserved", i.Module)
		}
	}
	for _, e := range m.Exports {
		if e.Name == CounterExport || e.Name == StackExport {
			return fmt.Errorf("the module exports %q, which is reserved", e.Name)
		}
	}
	return nil
}
