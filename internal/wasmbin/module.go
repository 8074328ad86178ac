package wasmbin

import "slices"

// Module is a parsed module.
type Module struct {
	Imports []Import
	Exports []Export
	// Memory is the module's own memory, nil if it has none.
	Memory *Range

	types     []signature
	functions []uint32 // the type of each, including imported ones
	imported  int      // the number of imported functions
	globals   int      // the number, including imported ones
	variables int      // the number of mutable globals
	vectors   bool     // some types of functions or globals are vectors
	tables    []table  // including imported ones
	elements  int64    // of all tables
	memories  int      // the number, including imported ones
	start     int      // -1 if there is none
	bodies    []body
	data      []Segment
	work      int64  // the estimated time to compile it
	bomb      *Error // why it is too expensive to compile
	names     []byte // the custom section of names, without its own name
	// sections are copies in the shortest encoding, with the indexes that functions have
	// in a metered module.
	sections [dataCountSection + 1][]byte
}

// Kind is the kind of an import or export.
type Kind byte

// The kinds.
const (
	Function Kind = iota
	Table
	Memory
	Global
)

func (k Kind) String() string {
	switch k {
	case Function:
		return "function"
	case Table:
		return "table"
	case Memory:
		return "memory"
	}
	return "global"
}

// Import is an import of a module.
type Import struct {
	Module, Name string
	Kind         Kind
	// Type is written as in "(i32, i64) -> i32", for functions.
	Type string
}

// Export is an export of a module.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
	// Type is written as in "(i32, i64) -> i32", for functions.
	Type string
}

// Range is an initial and a maximum size, in pages of 64 KiB for memories. Max is -1 if the
// module has none.
type Range struct{ Min, Max int64 }

// Export finds an export by name.
func (m *Module) Export(name string) (Export, bool) {
	i := slices.IndexFunc(m.Exports, func(e Export) bool { return e.Name == name })
	if i < 0 {
		return Export{}, false
	}
	return m.Exports[i], true
}

// HasStart reports whether the module has a start function, which runs at instantiation.
func (m *Module) HasStart() bool { return m.start >= 0 }

// Data returns the initial data for the module's memory, in the order of writing. The bytes
// belong to the module: do not change them.
func (m *Module) Data() []Segment { return m.data }

// table is a table of references.
type table struct {
	of       byte
	size     Range
	imported bool
}

// The sections, by their numbers.
const (
	customSection = iota
	typeSection
	importSection
	functionSection
	tableSection
	memorySection
	globalSection
	exportSection
	startSection
	elementSection
	codeSection
	dataSection
	dataCountSection
)

// order is the order of the sections: the count of data segments comes before the code.
var order = []byte{
	typeSection, importSection, functionSection, tableSection, memorySection, globalSection,
	exportSection, startSection, elementSection, dataCountSection, codeSection, dataSection,
}

// Parse parses a module. Its errors are of type *Error.
func Parse(binary []byte) (*Module, error) {
	m := &Module{start: -1}
	if err := m.parse(&reader{data: binary}); err != nil {
		return nil, err
	}
	return m, nil
}

// parse returns an error instead of an *Error, so that no error is a nil interface.
func (m *Module) parse(r *reader) error {
	if len(r.data) > MaxSize {
		return &Error{Reason: "it has more than 64 MiB, the maximum of a module"}
	}
	if magic := r.bytes(4); string(magic) != "\x00asm" {
		return &Error{Reason: "it does not begin with \\0asm, as WebAssembly does"}
	}
	if version := r.bytes(4); string(version) != "\x01\x00\x00\x00" {
		reason := "an unknown version"
		if len(version) == 4 && version[2] == 1 {
			reason = "a component: use the core module inside it"
		}
		return &Error{Offset: 4, Reason: reason}
	}
	last := -1
	for !r.done() {
		at := r.pos
		id := r.byte()
		part := r.part(r.u32())
		if r.err != nil {
			return r.err
		}
		if id != customSection {
			place := slices.Index(order, id)
			if place <= last {
				return &Error{Offset: at, Reason: describe("section %d is unknown or out of order", id)}
			}
			last = place
		}
		if m.read(id, part); part.err != nil {
			return part.err
		}
	}
	if functions := len(m.functions) - m.imported; len(m.bodies) != functions {
		r.failf("%d functions and %d bodies", functions, len(m.bodies))
		return r.err
	}
	return nil
}

func (m *Module) read(id byte, r *reader) {
	r.copying, r.moved = id != codeSection && id != customSection, m.moved
	switch id {
	case customSection:
		if r.name() == "name" && r.err == nil {
			m.names = r.data[r.pos:]
		}
		return // other custom sections are dropped
	case typeSection:
		m.readTypes(r)
	case importSection:
		m.readImports(r)
	case functionSection:
		m.readFunctions(r)
	case tableSection:
		m.readTables(r)
	case memorySection:
		m.readMemories(r)
	case globalSection:
		m.readGlobals(r)
	case exportSection:
		m.readExports(r)
	case startSection:
		m.start = int(m.function(r))
	case elementSection:
		m.readElements(r)
	case codeSection:
		m.readBodies(r)
	case dataSection:
		m.data = m.readData(r)
	case dataCountSection:
		r.u32()
	}
	if !r.done() {
		r.failf("section %d is longer than what is in it", id)
	}
	m.sections[id] = r.out
}
