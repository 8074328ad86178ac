package wasmbin

// constant reads a constant expression, and returns its value if it is a plain i32.
func (m *Module) constant(r *reader) (value uint32, plain bool) {
	switch op := r.byte(); op {
	case opI32Const:
		value, plain = uint32(r.signed(32)), true
	case opI64Const:
		r.signed(64)
	case opF32Const:
		r.bytes(4)
	case opF64Const:
		r.bytes(8)
	case opGlobalGet:
		r.below(m.globals, "global")
	case opRefNull:
		referenceType(r)
	case opRefFunc:
		m.function(r)
	case prefixVector:
		if sub := r.u32(); r.err == nil && sub != vectorConst {
			r.failf("not a constant: %#x %d", op, sub)
		}
		r.bytes(16)
	default:
		if r.err == nil {
			r.pos--
			r.failf("not a constant: %#x", op)
		}
	}
	if end := r.byte(); r.err == nil && end != opEnd {
		r.pos--
		r.failf("a constant of more than one instruction: %#x", end)
	}
	return value, plain
}

// readElements reads the segments of tables.
func (m *Module) readElements(r *reader) {
	const passive, explicit, expressions = 1, 2, 4
	left := maxTableSize
	for range r.count(maxElements, "segments of elements") {
		flags := r.u32()
		if r.err == nil && flags > 7 {
			r.failf("a segment of elements of an unknown kind: %#x", flags)
		}
		if flags&passive == 0 {
			if flags&explicit != 0 {
				r.below(len(m.tables), "table")
			}
			m.constant(r)
		}
		switch {
		case flags&(passive|explicit) == 0:
		case flags&expressions != 0:
			referenceType(r)
		default:
			r.zero("kind of elements")
		}
		n := r.count(left, "elements")
		left -= n
		for range n {
			if r.err != nil {
				return
			}
			if flags&expressions != 0 {
				m.constant(r)
			} else {
				m.function(r)
			}
		}
	}
}

// Segment is initial data of the module for its memory.
type Segment struct {
	// Passive says that the module copies it to memory itself.
	Passive bool
	// Offset is its address; Fixed says that this is a plain number, not an imported
	// global.
	Offset uint32
	Fixed  bool
	Data   []byte
}

func (m *Module) readData(r *reader) (all []Segment) {
	for range r.count(maxData, "segments of data") {
		s := Segment{}
		switch flags := r.u32(); {
		case r.err != nil:
			return nil
		case flags > 2:
			r.failf("a segment of data of an unknown kind: %#x", flags)
		case flags == 1:
			s.Passive = true
		case flags == 2:
			r.zero("memory")
		}
		if !s.Passive {
			s.Offset, s.Fixed = m.constant(r)
		}
		s.Data = r.bytes(r.count(MaxSize, "bytes of data"))
		if r.err != nil {
			return nil
		}
		all = append(all, s)
	}
	return all
}
