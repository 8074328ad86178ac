package wasmbin

// mention is told where a part names a function.
type mention func(at int, function uint32)

func nobody(int, uint32) {}

func (m *Module) mentioned(r *reader, tell mention) {
	at := r.pos
	i := m.function(r)
	tell(at, i)
}

// constant reads an expression that has a value before the module runs.
func (m *Module) constant(r *reader, tell mention) {
	for range 2 { // one value and the end
		switch op := r.byte(); op {
		case opEnd:
			return
		case opI32Const:
			r.signed(32)
		case opI64Const:
			r.signed(64)
		case opF32Const:
			r.bytes(4)
		case opF64Const:
			r.bytes(8)
		case opGlobalGet:
			r.u32()
		case opRefNull:
			r.byte()
		case opRefFunc:
			m.mentioned(r, tell)
		case prefixVector:
			if sub := r.u32(); r.err == nil && sub != vectorConst {
				r.failf("a constant that is none: %#x %d", op, sub)
			}
			r.bytes(16)
		default:
			if r.err == nil {
				r.pos--
				r.failf("a constant that is none: %#x", op)
			}
			return
		}
	}
	if r.err == nil {
		r.failf("a constant of more than one value")
	}
}

// readElements reads the segments of tables.
func (m *Module) readElements(r *reader, tell mention) {
	const passive, explicit, expressions = 1, 2, 4
	left := maxTableSize
	for range r.count(maxElements, "segments of elements") {
		flags := r.u32()
		if r.err == nil && flags > 7 {
			r.failf("a segment of elements of an unknown kind: %#x", flags)
		}
		if flags&passive == 0 {
			if flags&explicit != 0 {
				r.u32() // the table
			}
			m.constant(r, tell)
		}
		if flags&(passive|explicit) != 0 {
			r.byte() // what it is of
		}
		n := r.count(left, "elements")
		left -= n
		for range n {
			if flags&expressions != 0 {
				m.constant(r, tell)
			} else {
				m.mentioned(r, tell)
			}
		}
	}
}

// Segment is a piece of memory that the module brings.
type Segment struct {
	Passive bool
	// Offset is where it belongs; Fixed says that this is a plain number.
	Offset uint32
	Fixed  bool
	Data   []byte
}

func (m *Module) readData(r *reader, segment func(Segment)) {
	for range r.count(maxData, "segments of data") {
		s := Segment{}
		switch flags := r.u32(); {
		case r.err != nil:
			return
		case flags > 2:
			r.failf("a segment of data of an unknown kind: %#x", flags)
		case flags == 1:
			s.Passive = true
		case flags == 2:
			r.u32() // the memory
		}
		if !s.Passive {
			at := r.pos
			m.constant(r, nobody)
			if expression := r.since(at); len(expression) > 0 && expression[0] == opI32Const {
				s.Offset, s.Fixed = uint32((&reader{data: expression[1:]}).signed(32)), true
			}
		}
		s.Data = r.part(r.u32()).data
		if r.err != nil {
			return
		}
		segment(s)
	}
}
