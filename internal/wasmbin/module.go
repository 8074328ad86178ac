package wasmbin

import "slices"

// Module is a module that has been read.
type Module struct {
	Imports []Import
	Exports []Export
	// Memory is that of the module itself, nil if it has none.
	Memory *Range

	types     []signature
	functions []uint32 // the type of each, imported ones too
	imported  int      // how many functions are
	globals   int      // imported ones too
	variables int      // globals that can change
	vectors   bool     // there are some in types of functions, or in globals
	tables    []table  // imported ones too
	elements  int64    // of all tables
	memories  int      // imported ones too
	start     int      // -1 if there is none
	bodies    []body
	data      []Segment
	work      int64  // for the engine that compiles it
	bomb      *Error // it is too much
	names     []byte // a custom section, without its own name
	// sections are copies in the shortest form, with the functions in the places that
	// they have in a metered module.
	sections [dataCountSection + 1][]byte
}

// Kind is what can be imported and exported.
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

// Import is what a module wants.
type Import struct {
	Module, Name string
	Kind         Kind
	// Type is written as in "(i32, i64) -> i32", for functions.
	Type string
}

// Export is what it gives.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
	// Type is written as in "(i32, i64) -> i32", for functions.
	Type string
}

// Range is a size now and at most, in pages of 64 KiB for memories. Max is -1 where
// the module has no bound of its own.
type Range struct{ Min, Max int64 }

// Export finds what the module gives by that name.
func (m *Module) Export(name string) (Export, bool) {
	i := slices.IndexFunc(m.Exports, func(e Export) bool { return e.Name == name })
	if i < 0 {
		return Export{}, false
	}
	return m.Exports[i], true
}

// HasStart says that a function of the module runs as soon as it is instantiated.
func (m *Module) HasStart() bool { return m.start >= 0 }

// Data is what the module brings for its memory, in the order in which it is to be
// written. The bytes are those of the module: they are not to be changed.
func (m *Module) Data() []Segment { return m.data }

// table is one of references.
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

// order is how the sections follow each other: the count of data segments comes
// before the code.
var order = []byte{
	typeSection, importSection, functionSection, tableSection, memorySection, globalSection,
	exportSection, startSection, elementSection, dataCountSection, codeSection, dataSection,
}

// Parse takes a module apart. An error is an *Error.
func Parse(binary []byte) (*Module, error) {
	m := &Module{start: -1}
	if err := m.parse(&reader{data: binary}); err != nil {
		return nil, err
	}
	return m, nil
}

// parse gives an error, not an *Error, so that none is nil.
func (m *Module) parse(r *reader) error {
	if len(r.data) > MaxSize {
		return &Error{Reason: "more than 64 MiB, which is what a module may have"}
	}
	if magic := r.bytes(4); string(magic) != "\x00asm" {
		return &Error{Reason: "it does not begin with \\0asm, as WebAssembly does"}
	}
	if version := r.bytes(4); string(version) != "\x01\x00\x00\x00" {
		reason := "an unknown version"
		if len(version) == 4 && version[2] == 1 {
			reason = "a component: give the core module inside of it"
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
				return &Error{Offset: at, Reason: describe("section %d is unknown, or not in its place", id)}
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
		return // what else is in there is nobody's business
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
