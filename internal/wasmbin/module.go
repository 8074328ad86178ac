package wasmbin

// Module is a module in its parts. What does not have to be understood stays as it
// was.
type Module struct {
	Imports []Import
	Exports []Export
	// Memory is that of the module itself, nil if it has none.
	Memory *Range

	types     []signature
	functions []uint32 // the type of each that is not imported
	imported  int      // how many functions are
	globals   int      // imported ones too
	tables    int
	elements  int64 // of all tables
	memories  int   // imported ones too
	bodies    []body
	start     int // -1 if there is none
	sections  []section
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
}

// Range is a size now and at most, in pages of 64 KiB for memories. Max is -1 where
// the module has no bound of its own.
type Range struct{ Min, Max int64 }

type signature struct{ parameters, results []byte }

type body struct {
	locals []byte // the groups, as they were
	groups int
	count  int // of the locals, without parameters
	code   []byte
	at     int // where code begins in the module
}

type section struct {
	id   byte
	data []byte
	base int
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

// order is where each section stands: the count of data segments comes before the
// code.
var order = [...]int{
	typeSection: 1, importSection: 2, functionSection: 3, tableSection: 4, memorySection: 5, globalSection: 6,
	exportSection: 7, startSection: 8, elementSection: 9, dataCountSection: 10, codeSection: 11, dataSection: 12,
}

// Parse takes a module apart. An error is an *Error.
func Parse(binary []byte) (*Module, error) {
	r := &reader{data: binary}
	if len(binary) > MaxSize {
		r.failf("%d bytes, of which a module may have %d", len(binary), MaxSize)
		return nil, r.err
	}
	m := &Module{start: -1}
	switch magic := string(r.bytes(4)); {
	case r.err != nil || magic != "\x00asm":
		return nil, &Error{Reason: "it does not begin with \\0asm, as WebAssembly does"}
	}
	if version := r.bytes(4); r.err == nil && string(version) != "\x01\x00\x00\x00" {
		reason := "an unknown version"
		if version[2] == 1 {
			reason = "a component: give the core module inside of it"
		}
		return nil, &Error{Offset: 4, Reason: reason}
	}
	last := 0
	for !r.done() {
		id := r.byte()
		part := r.part(r.u32())
		if r.err != nil {
			return nil, r.err
		}
		if id != customSection {
			if int(id) >= len(order) || order[id] <= last {
				r.pos--
				r.failf("section %d is unknown, or not in its place", id)
				return nil, r.err
			}
			last = order[id]
		}
		m.sections = append(m.sections, section{id, part.data, part.base})
		m.read(id, part)
		if part.err == nil && id != customSection && !part.done() {
			part.failf("section %d is longer than what is in it", id)
		}
		if part.err != nil {
			return nil, part.err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(m.bodies) != len(m.functions) {
		r.failf("%d functions and %d bodies", len(m.functions), len(m.bodies))
		return nil, r.err
	}
	return m, nil
}

func (m *Module) read(id byte, r *reader) {
	switch id {
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
		m.readElements(r, nobody)
	case codeSection:
		m.readBodies(r)
	case dataSection:
		m.readData(r, func(Segment) {})
	case dataCountSection:
		r.u32()
	}
}

func (m *Module) readTypes(r *reader) {
	for range r.count(maxTypes, "types") {
		if form := r.byte(); r.err == nil && form != 0x60 {
			r.failf("a type that is not of a function: %#x", form)
		}
		t := signature{parameters: valueTypes(r, "parameters"), results: valueTypes(r, "results")}
		if r.err != nil {
			return
		}
		m.types = append(m.types, t)
	}
}

func valueTypes(r *reader, what string) []byte {
	list := r.bytes(r.count(maxParameters, what))
	for _, t := range list {
		checkValueType(r, t)
	}
	return list
}

func checkValueType(r *reader, t byte) {
	switch t {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFuncRef, typeExternRef:
	default:
		r.failf("an unknown type of value: %#x", t)
	}
}

// The types of values.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncRef   = 0x70
	typeExternRef = 0x6f
)

func (m *Module) readImports(r *reader) {
	for range r.count(maxImports, "imports") {
		i := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		switch i.Kind {
		case Function:
			if t := m.typeIndex(r); r.err == nil {
				i.Type = m.types[t].String()
			}
			m.imported++
		case Table:
			m.readTable(r)
		case Memory:
			m.readMemory(r)
		case Global:
			readGlobalType(r)
			m.globals++
		default:
			r.failf("an import of an unknown kind: %#x", byte(i.Kind))
		}
		if r.err != nil {
			return
		}
		m.Imports = append(m.Imports, i)
	}
}

func (m *Module) typeIndex(r *reader) uint32 {
	i := r.u32()
	if r.err == nil && int64(i) >= int64(len(m.types)) {
		r.failf("type %d of %d", i, len(m.types))
	}
	return i
}

// function reads an index.
func (m *Module) function(r *reader) uint32 {
	i := r.u32()
	if all := m.imported + len(m.functions); r.err == nil && int64(i) >= int64(all) {
		r.failf("function %d of %d", i, all)
		return 0
	}
	return i
}

func (m *Module) readFunctions(r *reader) {
	for range r.count(maxFunctions, "functions") {
		i := m.typeIndex(r)
		if r.err != nil {
			return
		}
		m.functions = append(m.functions, i)
	}
}

func (m *Module) readTables(r *reader) {
	for range r.count(maxTables, "tables") {
		m.readTable(r)
	}
}

func (m *Module) readTable(r *reader) {
	if t := r.byte(); r.err == nil && t != typeFuncRef && t != typeExternRef {
		r.failf("a table of an unknown type: %#x", t)
	}
	size := readRange(r)
	m.elements += size.Min
	if r.err == nil && m.elements > maxTableSize {
		r.failf("tables of %d elements, of which a module may have %d", m.elements, maxTableSize)
	}
	if m.tables++; r.err == nil && m.tables > maxTables {
		r.failf("%d tables, of which a module may have %d", m.tables, maxTables)
	}
}

func (m *Module) readMemories(r *reader) {
	for range r.count(1, "memories") {
		m.Memory = m.readMemory(r)
	}
}

func (m *Module) readMemory(r *reader) *Range {
	size := readRange(r)
	if r.err == nil && (size.Min > maxMemoryPages || size.Max > maxMemoryPages) {
		r.failf("a memory of more than 4 GiB")
	}
	if m.memories++; r.err == nil && m.memories > 1 {
		r.failf("more than one memory")
	}
	return &size
}

func readRange(r *reader) Range {
	switch flag := r.byte(); flag {
	case 0:
		return Range{int64(r.u32()), -1}
	case 1:
		size := Range{int64(r.u32()), int64(r.u32())}
		if r.err == nil && size.Max < size.Min {
			r.failf("a size of %d, but at most %d", size.Min, size.Max)
		}
		return size
	default:
		r.failf("a size of an unknown kind (shared, or of 64 bits): %#x", flag)
		return Range{}
	}
}

func readGlobalType(r *reader) {
	checkValueType(r, r.byte())
	if mutable := r.byte(); r.err == nil && mutable > 1 {
		r.failf("a global that is neither constant nor variable: %#x", mutable)
	}
}

func (m *Module) readGlobals(r *reader) {
	for range r.count(maxGlobals, "globals") {
		readGlobalType(r)
		m.constant(r, nobody)
		m.globals++
	}
}

func (m *Module) readExports(r *reader) {
	for range r.count(maxExports, "exports") {
		e := Export{Name: r.name(), Kind: Kind(r.byte()), Index: r.u32()}
		if r.err == nil && e.Kind > Global {
			r.failf("an export of an unknown kind: %#x", byte(e.Kind))
		}
		if r.err != nil {
			return
		}
		m.Exports = append(m.Exports, e)
	}
}

func (m *Module) readBodies(r *reader) {
	for range r.count(maxFunctions, "bodies of functions") {
		size := r.u32()
		if r.err == nil && size > maxBody {
			r.failf("a function of %d bytes, of which it may have %d", size, maxBody)
		}
		part := r.part(size)
		b := body{groups: part.count(maxLocals, "groups of locals")}
		at := part.pos
		for range b.groups {
			n := part.u32()
			checkValueType(part, part.byte())
			if total := int64(b.count) + int64(n); part.err == nil && total > maxLocals {
				part.failf("%d locals, of which a function may have %d", total, maxLocals)
			}
			b.count += int(n)
			if part.err != nil {
				break
			}
		}
		b.locals = part.since(at)
		b.at = part.base + part.pos
		if part.err == nil {
			b.code = part.data[part.pos:]
		}
		if part.err != nil && r.err == nil {
			r.err = part.err
		}
		if r.err != nil {
			return
		}
		m.bodies = append(m.bodies, b)
	}
}

func (s signature) String() string {
	list := func(types []byte) string {
		text := ""
		for i, t := range types {
			if i > 0 {
				text += ", "
			}
			text += valueTypeNames[t]
		}
		return text
	}
	switch len(s.results) {
	case 0:
		return "(" + list(s.parameters) + ")"
	case 1:
		return "(" + list(s.parameters) + ") -> " + list(s.results)
	}
	return "(" + list(s.parameters) + ") -> (" + list(s.results) + ")"
}

var valueTypeNames = map[byte]string{
	typeI32: "i32", typeI64: "i64", typeF32: "f32", typeF64: "f64", typeV128: "v128", typeFuncRef: "funcref", typeExternRef: "externref",
}
