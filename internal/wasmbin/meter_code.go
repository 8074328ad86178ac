package wasmbin

import "slices"

// function is the state of rewriting a function's body.
//
// The code is cut into pieces, each of which runs from its start to its end or not at all,
// unless it traps. The cost of a piece is subtracted from the counter at its start.
type function struct {
	*meter
	*body
	signature
	out    []byte
	pos    int    // the position in the old code
	piece  []byte // the current piece, not charged yet
	cost   int64  // of the piece
	callee int64  // the work of a called function that does not check the counter
	path   int64  // the maximum work since the last check of the counter
	look   bool   // the counter must be checked at the start of the piece
	blocks []scope
	begun  int  // the number of blocks so far
	dead   bool // the code is unreachable
	dirty  bool // the local counter may differ from the global one

	carried []uint32 // locals that are passed through the next call of the host

	inLocal   bool // the counter is in a local
	accounted bool // the stack of the call is counted
	looks     bool // with Coarse: it checks the counter at its start

	// Our locals: the counter, the length of a long instruction or of a growth, its
	// result, and the remaining stack for called functions.
	counterLocal, lengthLocal, grownLocal, roomLocal uint32
}

// scope is an open block.
type scope struct {
	op     byte // opIf becomes opElse; 0 is the function itself
	target bool // some jump goes to its label
	dead   bool // its start is unreachable
	joins  bool // its end is reachable from before its else

	// path is the longest known path to its end, and skip the one to its else.
	path, skip int64
}

// rewrite returns the new body.
func (f *function) rewrite() []byte {
	// A local is faster than a global if it is used often, but it must be written back and
	// read again around calls.
	f.inLocal = f.Grain == Exact || f.loops && f.calls == 0
	f.accounted = f.Stack && (!f.leaf() || f.frame() > maxFreeFrame)
	r := &reader{data: f.data, base: f.base, copying: true, moved: f.moved}
	f.declare(r)
	f.enter()
	d := &decoder{Module: f.Module, reader: r, locals: f.locals}
	// All of this was parsed before, so there are no errors.
	for f.blocks = []scope{{}}; len(f.blocks) > 0 && r.err == nil; {
		r.out = r.out[:0]
		d.depth = len(f.blocks) - 1
		i := d.next()
		f.pos = r.pos
		f.add(i, r.out)
	}
	return f.out
}

// declare writes the locals: the module's, and ours that are needed.
func (f *function) declare(r *reader) {
	ours, n := []byte(nil), uint32(0)
	local := func(needed bool, t byte) uint32 {
		if !needed {
			return 0
		}
		ours = append(ours, 1, t)
		n++
		return uint32(f.locals) + n - 1
	}
	f.counterLocal = local(f.inLocal, typeI64)
	f.lengthLocal = local(f.long || f.grows, typeI32)
	f.grownLocal = local(f.grows, typeI32)
	f.roomLocal = local(f.accounted, typeI32)
	groups := r.rawU32()
	f.out = appendU32(f.out, groups+n)
	readLocals(r, int(groups))
	f.out = append(append(f.out, r.out...), ours...)
}

// enter charges the stack of the call.
func (f *function) enter() {
	if f.accounted {
		f.op(opGlobalGet, f.room)
		f.out = appendSigned(append(f.out, opI32Const), f.frame())
		f.out = append(f.out, opI32Sub)
		f.op(opLocalTee, f.roomLocal)
		f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, blockVoid)
		f.op(opCall, f.overflow)
		// Declaring that the call does not return avoids a merge of control flow after
		// it.
		f.out = append(f.out, opUnreachable, opEnd)
	}
	f.load()
	f.look = !f.light()
	if f.Grain == Coarse {
		f.look = f.looks
	}
}

func (f *function) op(op byte, index uint32) { f.out = appendU32(append(f.out, op), index) }

// load copies the global counter to the local one, and store copies it back before calls, so
// that called functions continue the count.
func (f *function) load() {
	if f.inLocal {
		f.op(opGlobalGet, f.counter)
		f.op(opLocalSet, f.counterLocal)
		f.dirty = false
	}
}

func (f *function) store() {
	if f.inLocal && f.dirty {
		f.op(opLocalGet, f.counterLocal)
		f.op(opGlobalSet, f.counter)
		f.dirty = false
	}
}

// add copies one instruction.
func (f *function) add(i instruction, raw []byte) {
	if !f.dead {
		f.cost += i.cost()
	}
	switch i.op {
	case opBlock, opLoop, opIf:
		f.begin(i.op, raw)
		return
	case opElse:
		f.pay(false)
		b := &f.blocks[len(f.blocks)-1]
		b.op, b.joins = opElse, !f.dead
		b.arrive(f)
		f.path, f.dead, f.dirty = b.skip, b.dead, true
		f.out = append(f.out, raw...)
		return
	case opEnd:
		f.end()
		return
	}
	if f.dead {
		f.piece = append(f.piece, raw...)
		return
	}
	switch i.op {
	case opBr, opBrIf, opBrTable, opReturn, opUnreachable:
		f.jump(i, raw)
	case opCall, opCallIndirect:
		f.call(i, raw)
	default:
		switch {
		case i.long():
			f.chargeLong(raw)
		case i.grows():
			f.chargeGrown(i, raw)
		default:
			if f.piece = append(f.piece, raw...); f.cost >= maxPath {
				f.pay(false) // straight code can be long too
			}
		}
	}
}

func (f *function) begin(op byte, raw []byte) {
	b := scope{op: op, target: f.targets.has(f.begun), dead: f.dead}
	f.begun++
	f.blocks = append(f.blocks, b)
	switch {
	case op == opIf:
		f.piece = append(f.piece, raw...)
		f.pay(false)
		f.blocks[len(f.blocks)-1].skip = f.path
	case op == opLoop && b.target && !f.dead:
		f.pay(true)
		f.out = append(f.out, raw...)
		f.look, f.dirty = true, true
		if f.Grain == Coarse {
			f.carried = f.carries(f.pos)
		}
	default:
		f.piece = append(f.piece, raw...)
	}
}

func (f *function) end() {
	b := f.blocks[len(f.blocks)-1]
	f.blocks = f.blocks[:len(f.blocks)-1]
	switch {
	case b.op == 0:
		f.pay(false)
		if !f.dead {
			f.store()
		}
		f.out = append(f.out, opEnd)
		return
	case b.op == opLoop, b.op == opBlock && !b.target:
		// The end is reached only from above.
		f.piece = append(f.piece, opEnd)
		return
	}
	f.pay(false)
	f.out = append(f.out, opEnd)
	b.arrive(f)
	if f.path = b.path; b.op == opIf {
		f.path = max(b.path, b.skip)
	}
	f.dead = b.dead || f.dead && !b.target && b.op == opElse && !b.joins
	f.dirty = true
}

// arrive records that the current path continues after the block.
func (s *scope) arrive(f *function) {
	if !f.dead {
		s.path = max(s.path, f.path)
	}
}

// jump copies a jump.
func (f *function) jump(i instruction, raw []byte) {
	labels := i.labels
	if i.op == opBr || i.op == opBrIf {
		labels = []uint32{i.index}
	}
	function := uint32(len(f.blocks) - 1)
	if f.inLocal && (i.op == opReturn || slices.Contains(labels, function)) {
		f.pay(false)
		f.store()
	}
	f.piece = append(f.piece, raw...)
	f.pay(false)
	for _, label := range labels {
		f.blocks[function-label].arrive(f)
	}
	f.dead = i.op != opBrIf
}

// call copies a call. The counter and the remaining stack are up to date at every call.
func (f *function) call(i instruction, raw []byte) {
	if i.op == opCallIndirect {
		f.callee = maxLight
	} else if int(i.index) >= f.imported {
		if callee := &f.bodies[int(i.index)-f.imported]; callee.light() {
			f.callee = callee.instructions
		}
	}
	f.pay(false)
	f.store()
	if f.accounted && (i.op == opCallIndirect || int(i.index) >= f.imported) {
		f.op(opLocalGet, f.roomLocal)
		f.op(opGlobalSet, f.room)
	}
	f.out = append(f.out, raw...)
	f.load()
}

// pay ends a piece and charges its cost before it. A loop after it checks the counter itself.
func (f *function) pay(atLoop bool) {
	if f.dead {
		f.out = append(f.out, f.piece...)
		f.piece = f.piece[:0]
		return
	}
	run := f.cost + f.callee
	f.path += run
	look := f.look && !atLoop || f.path > maxPath
	cost := f.cost
	if f.Grain == Coarse {
		cost = 0
		if look = f.look && !atLoop; look {
			cost = 1
		}
	}
	if look {
		f.look, f.path = false, run // the piece comes after the check
	}
	f.charge(cost, look)
	f.out = append(f.out, f.piece...)
	f.piece, f.cost, f.callee = f.piece[:0], 0, 0
}

// charge subtracts a cost from the counter.
func (f *function) charge(cost int64, look bool) {
	if f.Grain == Uncounted {
		return
	}
	if cost > 0 {
		f.getCounter()
		f.out = appendSigned(append(f.out, opI64Const), cost)
		f.subtract()
	}
	if look {
		f.lookAtCounter()
	}
}

// chargeLong charges for a long instruction before it runs, in addition to the cost of one
// instruction.
func (f *function) chargeLong(raw []byte) {
	if f.Grain == Uncounted {
		f.piece = append(f.piece, raw...)
		return
	}
	f.pay(false)
	f.op(opLocalTee, f.lengthLocal)
	f.getCounter()
	f.op(opLocalGet, f.lengthLocal)
	f.out = append(f.out, opI64ExtendU, opI64Const, bulkShift, opI64ShrU)
	f.subtract()
	f.lookAtCounter()
	f.piece = append(f.piece, raw...)
}

// chargeGrown charges for memory and tables that have grown. A refused growth costs nothing.
func (f *function) chargeGrown(i instruction, raw []byte) {
	if f.Grain == Uncounted {
		f.piece = append(f.piece, raw...)
		return
	}
	f.pay(false)
	f.op(opLocalTee, f.lengthLocal)
	f.out = append(f.out, raw...)
	f.op(opLocalTee, f.grownLocal)
	f.getCounter()
	f.op(opLocalGet, f.grownLocal)
	f.out = append(f.out, opI32Const, 0x7f /* -1 */, opI32Ne, opI64ExtendU)
	f.op(opLocalGet, f.lengthLocal)
	f.out = append(f.out, opI64ExtendU, opI64Mul)
	if i.op == opMemoryGrow {
		f.out = appendSigned(append(f.out, opI64Const), pageSize>>bulkShift)
		f.out = append(f.out, opI64Mul)
	} else {
		f.out = append(f.out, opI64Const, bulkShift, opI64ShrU)
	}
	f.subtract()
	f.lookAtCounter()
}

func (f *function) getCounter() {
	if f.inLocal {
		f.op(opLocalGet, f.counterLocal)
	} else {
		f.op(opGlobalGet, f.counter)
	}
}

// subtract subtracts the value on the stack from the counter below it.
func (f *function) subtract() {
	f.out = append(f.out, opI64Sub)
	if f.inLocal {
		f.op(opLocalSet, f.counterLocal)
	} else {
		f.op(opGlobalSet, f.counter)
	}
	f.dirty = true
}

// lookAtCounter calls the host if the counter is negative.
func (f *function) lookAtCounter() {
	f.getCounter()
	// The usual branch comes first: where two branches meet, the engine keeps values where
	// the first one has them, and after a call they are in memory. In the other order, short
	// loops are 50% slower.
	f.out = append(f.out, opI64Const, 0, opI64GeS, opIf, blockVoid, opElse)
	dirty := f.dirty
	f.store()
	f.askHost()
	f.carried = nil
	f.load()
	f.dirty = dirty
	f.out = append(f.out, opEnd)
}
