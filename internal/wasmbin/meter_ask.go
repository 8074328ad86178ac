package wasmbin

import "slices"

// A look at the counter calls the host now and then, and what lives across a call is kept
// in memory: the engine writes it there whenever it changes, in every turn of a loop, also
// if the call is hardly ever made. In a loop without other calls that is most of what
// counting costs. So what such a loop changes is no longer needed behind the call: it goes
// through the function that asks, and comes back as its results.

// maxCarried is how many locals go through at most: about as many as there are registers.
const maxCarried = 16

// carries gives the locals that a loop without calls changes, and needs when a turn
// begins, in the order of their types. The code of the loop begins at pos.
func (f *function) carries(pos int) (locals []uint32) {
	r := &reader{data: f.data, base: f.base, pos: pos}
	d := &decoder{Module: f.Module, reader: r, locals: f.locals}
	// A local that is read further up than it is written is needed.
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
	return 0 // not reached: the locals have been read before
}

// askHost calls the host, and has the locals that are carried go through the call.
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

// askFor gives the function that asks, and takes and gives back values of these types.
func (t *meter) askFor(types []byte) uint32 {
	n := slices.IndexFunc(t.asks, func(have []byte) bool { return string(have) == string(types) })
	if n < 0 {
		n = len(t.asks)
		t.asks = append(t.asks, types)
	}
	return uint32(len(t.functions)) + added + uint32(n)
}

// askFunction gives the counter to the host and takes what it answers. It is a function of
// its own so that asking, which is rare, takes little room wherever it is done.
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
