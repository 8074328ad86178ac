package wasmbin

import (
	"fmt"
	"slices"
)

// Grain is how finely a module is counted.
type Grain int

// The grains; see the package comment.
const (
	Exact Grain = iota
	Coarse
)

// Metering says how a module is rewritten.
type Metering struct {
	Grain Grain
	// Stack has the depth of calls counted too.
	Stack bool
	// WithoutData leaves out what the module brings for its memory: it will have been
	// there before.
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
	// CounterExport is the global with what is left. It begins with 0, so that Refill
	// is called first.
	CounterExport = "cordon:left"
	// StackExport is the global with the room for calls that is left, and has to be
	// set by the host.
	StackExport = "cordon:stack"
)

// frameCost is what a call takes without its locals, in words of the stack.
const frameCost = 8

// bulkShift is how many bytes, or elements of tables, are as much work as one
// instruction: 64.
const bulkShift = 6

// meter is a rewriting under way.
type meter struct {
	*Module
	Metering
	counter, stack uint32 // the globals
	added          uint32 // imported functions
	refill         uint32 // the functions
	overflow       uint32
	blocks         map[string]uint32 // types of blocks with several results
	types          []signature
}

// Meter gives the module with its counters.
func (m *Module) Meter(how Metering) ([]byte, error) {
	if err := m.checkNames(); err != nil {
		return nil, err
	}
	t := &meter{Module: m, Metering: how, blocks: map[string]uint32{}}
	t.counter, t.stack = uint32(m.globals), uint32(m.globals)+1
	t.refill, t.overflow, t.added = uint32(m.imported), uint32(m.imported)+1, 1
	if how.Stack {
		t.added = 2
	}
	// Code first: it decides which types are needed.
	code, err := t.codeSection()
	if err != nil {
		return nil, err
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	ours := map[byte]func() []byte{
		typeSection: t.typeSection, importSection: t.importSection, tableSection: t.tableSection, globalSection: t.globalSection, exportSection: t.exportSection,
		startSection: t.startSection, elementSection: t.elementSection, codeSection: func() []byte { return code },
	}
	if how.WithoutData {
		ours[dataSection] = func() []byte { return nil }
		ours[dataCountSection] = ours[dataSection]
	}
	for id := byte(1); int(id) < len(order); id++ {
		id := sectionAt(int(id))
		data := m.section(id).data
		if make := ours[id]; make != nil {
			data = make()
		}
		if len(data) > 0 {
			out = appendSection(out, id, data)
		}
	}
	if names := t.names(); names != nil {
		out = appendSection(out, customSection, names)
	}
	return out, nil
}

// sectionAt gives the section that stands at a place.
func sectionAt(place int) byte {
	return byte(slices.Index(order[:], place))
}

func (m *Module) section(id byte) section {
	for _, s := range m.sections {
		if s.id == id {
			return s
		}
	}
	return section{}
}

// reader reads a section again.
func (s section) reader() *reader { return &reader{data: s.data, base: s.base} }

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

// moved is where a function is now.
func (t *meter) moved(function uint32) uint32 {
	if function < uint32(t.imported) {
		return function
	}
	return function + t.added
}

// typeOf gives a type, a new one if there is none.
func (t *meter) typeOf(s signature) uint32 {
	key := s.String()
	i, ok := t.blocks[key]
	if !ok {
		i = uint32(len(t.Module.types) + len(t.types))
		t.blocks[key] = i
		t.types = append(t.types, s)
	}
	return i
}

func (t *meter) typeSection() []byte {
	// Those of our imports are asked for here, if the code did not.
	t.typeOf(refillType)
	if t.Stack {
		t.typeOf(overflowType)
	}
	r := t.section(typeSection).reader()
	if !r.done() {
		r.u32()
	}
	out := appendU32(nil, uint32(len(t.Module.types)+len(t.types)))
	out = append(out, r.data[r.pos:]...)
	for _, s := range t.types {
		out = append(out, 0x60)
		out = append(appendU32(out, uint32(len(s.parameters))), s.parameters...)
		out = append(appendU32(out, uint32(len(s.results))), s.results...)
	}
	return out
}

var (
	refillType   = signature{parameters: []byte{typeI64}, results: []byte{typeI64}}
	overflowType = signature{}
)

// importSection has ours behind all others.
func (t *meter) importSection() []byte {
	r := t.section(importSection).reader()
	if !r.done() {
		r.u32()
	}
	out := appendU32(nil, uint32(len(t.Imports))+t.added)
	out = append(out, r.data[r.pos:]...)
	ours := func(name string, s signature) {
		out = appendName(appendName(out, HostModule), name)
		out = appendU32(append(out, byte(Function)), t.typeOf(s))
	}
	ours(Refill, refillType)
	if t.Stack {
		ours(Overflow, overflowType)
	}
	return out
}

// tableSection bounds how far tables may grow: they are not in the guest's memory.
func (t *meter) tableSection() []byte {
	r := t.section(tableSection).reader()
	if r.done() {
		return nil
	}
	n := r.u32()
	out := appendU32(nil, n)
	for range n {
		of := r.byte()
		size := readRange(r)
		most := max(size.Min, maxTableSize/int64(t.tables))
		if size.Max >= 0 {
			most = min(most, size.Max)
		}
		out = appendU32(append(out, of, 1), uint32(size.Min))
		out = appendU32(out, uint32(most))
	}
	return out
}

func (t *meter) globalSection() []byte {
	r := t.section(globalSection).reader()
	n := uint32(0)
	if !r.done() {
		n = r.u32()
	}
	old := &renaming{meter: t, section: r.data, from: r.pos}
	for range n {
		readGlobalType(r)
		t.constant(r, old.mention)
	}
	ours := append(old.rest(), typeI64, 1, opI64Const, 0, opEnd)
	n++
	if t.Stack {
		ours = append(ours, typeI32, 1, opI32Const, 0, opEnd)
		n++
	}
	return append(appendU32(nil, n), ours...)
}

// renaming copies a section, with the functions' new places.
type renaming struct {
	*meter
	section []byte
	out     []byte
	from    int // what is not copied yet
}

func (n *renaming) mention(at int, function uint32) {
	n.out = append(n.out, n.section[n.from:at]...)
	n.out = appendU32(n.out, n.moved(function))
	r := reader{data: n.section, pos: at}
	r.u32() // a number may be longer than it has to be
	n.from = r.pos
}

func (n *renaming) rest() []byte { return append(n.out, n.section[n.from:]...) }

func (t *meter) exportSection() []byte {
	all := slices.Clone(t.Exports)
	all = append(all, Export{CounterExport, Global, t.counter})
	if t.Stack {
		all = append(all, Export{StackExport, Global, t.stack})
	}
	out := appendU32(nil, uint32(len(all)))
	for _, e := range all {
		if e.Kind == Function {
			e.Index = t.moved(e.Index)
		}
		out = appendU32(append(appendName(out, e.Name), byte(e.Kind)), e.Index)
	}
	return out
}

func (t *meter) startSection() []byte {
	if t.start < 0 {
		return nil
	}
	return appendU32(nil, t.moved(uint32(t.start)))
}

func (t *meter) elementSection() []byte {
	r := t.section(elementSection).reader()
	if r.done() {
		return nil
	}
	moved := &renaming{meter: t, section: r.data}
	t.readElements(r, moved.mention)
	return moved.rest()
}
