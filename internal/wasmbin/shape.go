package wasmbin

// shape has facts about the code of a function, collected before it is rewritten.
type shape struct {
	locals       int // including parameters
	instructions int64
	calls        int64
	callsBack    bool  // it calls functions of the module, or unknown ones
	loops        bool  // it has a loop that can repeat
	long         bool  // it has long instructions
	grows        bool  // it has instructions that grow memory or tables
	vectors      bool  // its values may be twice as large
	values       int64 // the maximum number of values
	sets         int64 // assignments of locals
	merges       int64 // points where several paths meet
	edges        int64 // paths to such points
	// compared is the sum over all labels of the square of the number of jumps: the engine
	// compares each jump with all others.
	compared int64
	// targets has a bit for each block, in order of their starts: whether some jump goes
	// to its label.
	targets bitset
}

type bitset []uint64

func (b bitset) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 != 0 }

func (b *bitset) add(i int) {
	for i/64 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// parseShape reads a function's body.
func (m *Module) parseShape(r *reader, t signature) (s shape) {
	locals, vectors := readLocals(r, r.count(maxLocals, "groups of locals"))
	s.locals, s.vectors = len(t.parameters)+locals, vectors || m.vectors
	d := &decoder{Module: m, reader: r, locals: s.locals}
	type open struct {
		op     byte
		number int
		jumps  int64
	}
	blocks := []open{{number: -1}} // of which the first is the function
	jump := func(label uint32) {
		b := &blocks[len(blocks)-1-int(label)]
		b.jumps++
		if b.number >= 0 {
			s.targets.add(b.number)
			s.loops = s.loops || b.op == opLoop
		}
	}
	for begun := 0; len(blocks) > 0; {
		d.depth = len(blocks) - 1
		i := d.next()
		if r.err != nil {
			return s
		}
		s.count(i, d)
		switch i.op {
		case opBlock, opLoop, opIf:
			if blocks = append(blocks, open{op: i.op, number: begun}); len(blocks) > maxNesting {
				r.failf("more than %d nested blocks", maxNesting)
				return s
			}
			begun++
		case opElse:
			if last := &blocks[len(blocks)-1]; last.op == opIf {
				last.op = opElse
			} else {
				r.failf("an else without an if")
				return s
			}
		case opEnd:
			last := blocks[len(blocks)-1]
			s.edges += last.jumps + 1
			s.compared += last.jumps * last.jumps
			blocks = blocks[:len(blocks)-1]
		case opBr, opBrIf:
			jump(i.index)
		case opBrTable:
			for _, label := range i.labels {
				jump(label)
			}
		}
	}
	if !r.done() {
		r.failf("code after the end of a function")
	}
	return s
}

// count adds an instruction to the sums.
func (s *shape) count(i instruction, d *decoder) {
	s.instructions += i.cost()
	s.long = s.long || i.long()
	s.grows = s.grows || i.grows()
	s.vectors = s.vectors || i.op == prefixVector
	switch i.op {
	case opBlock, opLoop, opIf:
		s.merges++
		s.values += int64(len(i.block.parameters) + len(i.block.results))
	case opLocalSet, opLocalTee:
		s.sets++
	case opCall:
		s.callsBack = s.callsBack || int(i.index) >= d.imported
		s.calling(d.typeOf(i.index))
	case opCallIndirect:
		s.callsBack = true
		s.calling(d.types[i.index])
	default:
		s.values++
		if i.op >= opI32Load && i.op <= opI64Store32 {
			s.values++ // the address
		}
	}
}

func (s *shape) calling(t signature) {
	s.calls++
	s.values += int64(len(t.parameters) + len(t.results))
}

// leaf reports whether a function calls no function that could call it.
func (s *shape) leaf() bool { return !s.callsBack }

// light reports whether a function always ends soon and need not check the counter.
func (s *shape) light() bool { return s.leaf() && !s.loops && s.instructions <= maxLight }

// frame is the room that a call takes on the engine's stack at most, in words of 8
// bytes. The engine keeps what it needs after a call in a place of its own for each
// value, and does not use a place twice; where several ways meet, every local that
// changes is a new value.
func (s *shape) frame() int64 {
	changing := min(s.sets, int64(s.locals))
	words := int64(s.locals) + s.values + s.merges*changing
	if s.vectors {
		words *= 2
	}
	return min(frameCost+words, maxFrame)
}

// places is how much the engine's compiler has to remember of a function. Every way to
// a place where several meet is one for every local, and after each call every global
// that can change is read again.
func (s *shape) places(variables int) int64 {
	const ours = 2 // globals
	checks := s.merges + 1
	return s.edges*int64(s.locals+ours) + (s.calls+checks)*int64(variables+ours)
}

// work is how long the compiler takes for it, in nanoseconds of a usual processor; see
// limits.go for how these numbers were found.
func (s *shape) work(variables int) int64 {
	return 2000*s.instructions + 1500*s.places(variables) + 100*s.merges*s.merges + 2*s.compared
}
