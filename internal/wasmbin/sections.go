package wasmbin

import "slices"

func (m *Module) readTypes(r *reader) {
	for range r.count(maxTypes, "types") {
		t := readSignature(r)
		if r.err != nil {
			return
		}
		m.types = append(m.types, t)
		m.vectors = m.vectors || slices.Contains(t.parameters, typeV128) || slices.Contains(t.results, typeV128)
	}
}

func (m *Module) typeIndex(r *reader) uint32 { return r.below(len(m.types), "type") }

// function reads the index of a function. The copy gets its new index.
func (m *Module) function(r *reader) uint32 {
	at := r.pos
	i := r.rawU32()
	if r.err == nil && int64(i) >= int64(len(m.functions)) {
		r.pos = at
		r.failf("function %d of %d", i, len(m.functions))
		return 0
	}
	if r.copying {
		r.out = appendU32(r.out, r.moved(i))
	}
	return i
}

func (m *Module) readImports(r *reader) {
	for range r.count(maxImports, "imports") {
		i := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		switch i.Kind {
		case Function:
			if t := m.typeIndex(r); r.err == nil {
				i.Type = m.types[t].String()
				m.functions = append(m.functions, t)
				m.imported++
			}
		case Table:
			m.readTable(r, true)
		case Memory:
			m.readMemory(r)
		case Global:
			m.readGlobalType(r)
		default:
			if r.err == nil {
				r.failf("an import of an unknown kind: %#x", byte(i.Kind))
			}
		}
		if r.err != nil {
			return
		}
		m.Imports = append(m.Imports, i)
	}
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
		m.readTable(r, false)
	}
}

func (m *Module) readTable(r *reader, imported bool) {
	t := table{of: referenceType(r), size: readRange(r), imported: imported}
	m.elements += t.size.Min
	if r.err == nil && m.elements > maxTableSize {
		r.failf("tables of %d elements: the maximum of a module is %d", m.elements, maxTableSize)
	}
	if m.tables = append(m.tables, t); r.err == nil && len(m.tables) > maxTables {
		r.failf("%d tables: the maximum of a module is %d", len(m.tables), maxTables)
	}
}

func (m *Module) readMemories(r *reader) {
	for range r.count(1, "memories") {
		size := m.readMemory(r)
		m.Memory = &size
	}
}

func (m *Module) readMemory(r *reader) Range {
	size := readRange(r)
	if r.err == nil && (size.Min > maxMemoryPages || size.Max > maxMemoryPages) {
		r.failf("a memory of more than 4 GiB")
	}
	if m.memories++; r.err == nil && m.memories > 1 {
		r.failf("more than one memory")
	}
	return size
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
		if r.err == nil {
			r.failf("a size of an unknown kind (shared, or of 64 bits): %#x", flag)
		}
		return Range{}
	}
}

func (m *Module) readGlobalType(r *reader) {
	m.vectors = valueType(r) == typeV128 || m.vectors
	switch mutable := r.byte(); {
	case r.err != nil:
	case mutable == 1:
		m.variables++
	case mutable != 0:
		r.failf("a global that is neither constant nor variable: %#x", mutable)
	}
	if m.globals++; r.err == nil && m.globals > maxGlobals {
		r.failf("%d globals: the maximum of a module is %d", m.globals, maxGlobals)
	}
}

func (m *Module) readGlobals(r *reader) {
	for range r.count(maxGlobals, "globals") {
		m.readGlobalType(r)
		m.constant(r)
		if r.err != nil {
			return
		}
	}
}

func (m *Module) readExports(r *reader) {
	for range r.count(maxExports, "exports") {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		switch e.Kind {
		case Function:
			if e.Index = m.function(r); r.err == nil {
				e.Type = m.typeOf(e.Index).String()
			}
		case Table:
			e.Index = r.below(len(m.tables), "table")
		case Memory:
			e.Index = r.below(m.memories, "memory")
		case Global:
			// An index beyond the module's globals would be our counter.
			e.Index = r.below(m.globals, "global")
		default:
			if r.err == nil {
				r.failf("an export of an unknown kind: %#x", byte(e.Kind))
			}
		}
		if r.err != nil {
			return
		}
		m.Exports = append(m.Exports, e)
	}
}

// typeOf returns the type of a function.
func (m *Module) typeOf(function uint32) signature { return m.types[m.functions[function]] }
