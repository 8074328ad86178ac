package wasmbin

// section returns a section of the metered module, empty if there is none.
func (t *meter) section(id byte) []byte {
	switch id {
	case typeSection:
		ours := [][]byte{refillType.append(nil), plainType.append(nil)}
		for _, types := range t.asks {
			ours = append(ours, signature{types, types}.append(nil))
		}
		return t.with(id, ours...)
	case importSection:
		return t.with(id, t.host(Refill, 0), t.host(Overflow, 1))
	case functionSection:
		ours := [][]byte(nil)
		for i := range t.asks {
			ours = append(ours, appendU32(nil, t.ourType(2+i)))
		}
		return t.with(id, ours...)
	case tableSection:
		return t.tableSection()
	case globalSection:
		return t.globalSection()
	case exportSection:
		return t.exportSection()
	case codeSection:
		return t.code
	case dataSection:
		if t.WithoutData {
			return t.passiveData()
		}
	}
	return t.sections[id]
}

// The types of our functions, after those of the module.
var (
	refillType = signature{parameters: []byte{typeI64}, results: []byte{typeI64}}
	plainType  = signature{}
)

func (t *meter) ourType(i int) uint32 { return uint32(len(t.types) + i) }

// host returns an import from the host.
func (t *meter) host(name string, ourType int) []byte {
	out := appendName(appendName(nil, HostModule), name)
	return appendU32(append(out, byte(Function)), t.ourType(ourType))
}

// with returns a section that is a list, with more at its end.
func (t *meter) with(id byte, more ...[]byte) []byte {
	r := &reader{data: t.sections[id]}
	n := uint32(0)
	if !r.done() {
		n = r.u32()
	}
	out := appendU32(nil, n+uint32(len(more)))
	out = append(out, r.data[r.pos:]...)
	for _, one := range more {
		out = append(out, one...)
	}
	return out
}

// tableSection bounds the growth of tables, which are not in the guest's memory.
func (t *meter) tableSection() []byte {
	n, list := uint32(0), []byte(nil)
	for _, one := range t.tables {
		if one.imported {
			continue
		}
		most := max(one.size.Min, maxTableSize/int64(len(t.tables)))
		if one.size.Max >= 0 {
			most = min(most, one.size.Max)
		}
		list = appendU32(append(list, one.of, 1), uint32(one.size.Min))
		list = appendU32(list, uint32(most))
		n++
	}
	if n == 0 {
		return nil
	}
	return append(appendU32(nil, n), list...)
}

func (t *meter) globalSection() []byte {
	const mutable = 1
	ours := [][]byte{{typeI64, mutable, opI64Const, 0, opEnd}}
	if t.Stack {
		room := appendSigned([]byte{typeI32, mutable, opI32Const}, startRoom)
		ours = append(ours, append(room, opEnd))
	}
	return t.with(globalSection, ours...)
}

func (t *meter) exportSection() []byte {
	export := func(name string, global uint32) []byte {
		return appendU32(append(appendName(nil, name), byte(Global)), global)
	}
	ours := [][]byte{export(CounterExport, t.counter)}
	if t.Stack {
		ours = append(ours, export(StackExport, t.room))
	}
	return t.with(exportSection, ours...)
}

// passiveData returns the segments that code may use by number. Active segments are empty after
// instantiation, and are empty here from the start.
func (t *meter) passiveData() []byte {
	if len(t.data) == 0 {
		return nil
	}
	const passive = 1
	out := appendU32(nil, uint32(len(t.data)))
	for _, s := range t.data {
		if !s.Passive {
			s.Data = nil
		}
		out = append(appendU32(append(out, passive), uint32(len(s.Data))), s.Data...)
	}
	return out
}

func (t *meter) codeSection() []byte {
	out, one := []byte(nil), []byte(nil)
	var looking bitset
	if t.Grain == Coarse {
		looking = t.looking()
	}
	for n := range t.bodies {
		f := &function{
			meter: t, body: &t.bodies[n], signature: t.typeOf(uint32(t.imported + n)),
			looks: looking.has(n), out: one[:0],
		}
		one = f.rewrite()
		out = append(appendU32(out, uint32(len(one))), one...)
	}
	for _, types := range t.asks {
		one = t.askFunction(types)
		out = append(appendU32(out, uint32(len(one))), one...)
	}
	return append(appendU32(nil, uint32(len(t.bodies)+len(t.asks))), out...)
}
