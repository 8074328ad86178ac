package wasmbin

import "slices"

// A check of the counter sometimes calls the host. The engine keeps values that live across a
// call in memory, and writes them there whenever they change, in every iteration of a loop,
// even if the call is rarely made. In a loop without other calls that is most of the cost of
// counting. So the locals that such a loop changes are passed through the function that asks
// the host, and come back as its results: none lives across the call.

// maxCarried bounds the passed locals, to about the number of registers.
const maxCarried = 16

// carries returns the locals that a loop without calls changes and needs at the start of an
// iteration, sorted by type. The code of the loop begins at pos.
func (f *function) carries(pos int) (locals []uint32) {
	r := &reader{data: f.data, base: f.base, pos: pos}
	d := &decoder{Module: f.Module, reader: r, locals: f.locals}
	// A local that is read before it is written is needed.
	needed, seen := []uint32(nil), map[uint32]bool{}
	changed := map[uint32]bool{}
	for depth := len(f.blocks); depth >= len(f.blocks) && r.err == nil; {
		d.depth = depth
		switch i := d.next(); i.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			depth--
		case opCall, opCallIndirect:
			return nil
		case opLocalGet, opLocalSet, opLocalTee:
			if i.op == opLocalGet && !seen[i.index] {
				needed = append(needed, i.index)
			}
			seen[i.index] = true
			changed[i.index] = changed[i.index] || i.op != opLocalGet
		}
	}
	for _, number := range []byte{typeI32, typeI64, typeF32, typeF64} {
		for _, l := range needed {
			if changed[l] && f.typeOfLocal(l) == number && len(locals) < maxCarried {
				locals = append(locals, l)
			}
		}
	}
	return locals
}

func (f *function) typeOfLocal(local uint32) byte {
	if int(local) < len(f.parameters) {
		return f.parameters[local]
	}
	local -= uint32(len(f.parameters))
	r := &reader{data: f.data, base: f.base}
	for range r.u32() {
		n, t := r.u32(), r.byte()
		if local < n {
			return t
		}
		local -= n
	}
	return 0 // not reached: the locals were checked before
}

// askHost calls the host and passes the carried locals through the call.
func (f *function) askHost() {
	types := make([]byte, len(f.carried))
	for i, l := range f.carried {
		types[i] = f.typeOfLocal(l)
		f.op(opLocalGet, l)
	}
	f.op(opCall, f.askFor(types))
	for _, l := range slices.Backward(f.carried) {
		f.op(opLocalSet, l)
	}
}

// askFor returns the function that asks the host and passes values of these types through.
func (t *meter) askFor(types []byte) uint32 {
	n := slices.IndexFunc(t.asks, func(have []byte) bool { return string(have) == string(types) })
	if n < 0 {
		n = len(t.asks)
		t.asks = append(t.asks, types)
	}
	return uint32(len(t.functions)) + added + uint32(n)
}

// askFunction returns a function that passes the counter to the host and stores the answer. It
// is a separate function, so that the rare call takes little code at each check.
func (t *meter) askFunction(types []byte) []byte {
	out := []byte{0} // locals
	out = appendU32(append(out, opGlobalGet), t.counter)
	out = appendU32(append(out, opCall), t.refill)
	out = appendU32(append(out, opGlobalSet), t.counter)
	for i := range types {
		out = appendU32(append(out, opLocalGet), uint32(i))
	}
	return append(out, opEnd)
}
