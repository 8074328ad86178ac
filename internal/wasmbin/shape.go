package wasmbin

// shape is what a look at the code of a function tells, before it is rewritten.
type shape struct {
	locals       int // parameters too
	instructions int64
	calls        int64
	callsBack    bool // it calls functions of the module, or some that it does not know
	loops        bool // there is a loop that is gone through again
	long         bool // it has long instructions
	grows        bool // it has some that grow memory or tables
	vectors      bool
	values       int64 // at most that many are made
	sets         int64 // of locals
	merges       int64 // places to which several ways lead
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

// look reads a function's body.
func (m *Module) look(r *reader, t signature) (s shape) {
	s.locals = len(t.parameters) + readLocals(r, r.count(maxLocals, "groups of locals"))
	d := &decoder{Module: m, reader: r, locals: s.locals}
	type open struct {
		op     byte
		number int
	}
	blocks := []open{{number: -1}} // of which the first is the function
	jump := func(label uint32) {
		if b := blocks[len(blocks)-1-int(label)]; b.number >= 0 {
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
			if blocks = append(blocks, open{i.op, begun}); len(blocks) > maxNesting {
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
	if s.merges > maxMerges {
		r.failf("%d blocks in a function, of which there may be %d", s.merges, maxMerges)
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
		s.calls++
		s.callsBack = s.callsBack || int(i.index) >= d.imported
		s.values += int64(len(d.typeOf(i.index).results))
	case opCallIndirect:
		s.calls++
		s.callsBack = true
		s.values += int64(len(d.types[i.index].results))
	default:
		s.values++
		if i.op >= opI32Load && i.op <= opI64Store32 {
			s.values++ // the address
		}
	}
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

// work is how much a function is for a compiler. Every place where several ways meet
// is one for every local, and after each call every global that can change is read
// again.
func (s *shape) work(variables int) int64 {
	const ours = 2 // globals
	checks := s.merges + 1
	return s.instructions + s.values + s.merges*int64(s.locals) + (s.calls+checks)*int64(variables+ours)
}
