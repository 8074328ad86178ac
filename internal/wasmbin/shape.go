package wasmbin

// shape is what a look at the code of a function tells, before it is rewritten.
type shape struct {
	locals       int // parameters too
	instructions int64
	calls        int64
	callsBack    bool  // it calls functions of the module, or some that it does not know
	loops        bool  // there is a loop that is gone through again
	long         bool  // it has long instructions
	grows        bool  // it has some that grow memory or tables
	vectors      bool  // its values may be twice as large
	values       int64 // at most that many are made
	sets         int64 // of locals
	merges       int64 // places to which several ways lead
	edges        int64 // ways that lead to such places
	// compared is the sum of the squares of the numbers of jumps to each label: the
	// engine compares each with all others.
	compared int64
	// targets says of each block, in the order in which they begin, whether its
	// label is jumped to.
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
				r.failf("more than %d blocks inside of each other", maxNesting)
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
		r.failf("code behind the end of a function")
	}
	return s
}

// count takes an instruction into the sums.
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

// leaf says that a function calls none that could call it.
func (s *shape) leaf() bool { return !s.callsBack }

// light says that a function ends soon in any case, and needs to ask for nothing.
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
