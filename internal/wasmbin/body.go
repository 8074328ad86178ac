package wasmbin

import "time"

// body is a function that the module brings: its locals and its code.
type body struct {
	data []byte
	base int // where data begins in the module
	shape
}

func (m *Module) readBodies(r *reader) {
	functions := len(m.functions) - m.imported
	for n := range r.count(maxFunctions, "bodies of functions") {
		size := r.u32()
		if r.err == nil && size > maxBody {
			r.failf("a function of %d bytes, of which it may have %d", size, maxBody)
		}
		if r.err == nil && n >= functions {
			r.failf("more bodies than functions: there are %d", functions)
		}
		part := r.part(size)
		if r.err != nil {
			return
		}
		b := body{data: part.data, base: part.base}
		b.shape = m.parseShape(part, m.typeOf(uint32(m.imported+n)))
		if part.err != nil {
			r.err = part.err
			return
		}
		m.bodies = append(m.bodies, b)
		m.weigh(&b, r.base+r.pos)
	}
}

// weigh adds a function up, and remembers if it is too much for a compiler.
func (m *Module) weigh(b *body, end int) {
	// This does not overflow: a body has less than 2^23 bytes, and all of them 2^26.
	m.work += b.work(m.variables)
	switch {
	case m.bomb != nil:
	case b.places(m.variables) > maxPlaces:
		m.bomb = &Error{end, describe("a function that would take a compiler too much memory: %d jumps and calls with %d locals and %d variables",
			b.edges+b.calls, b.locals, m.variables)}
	case m.work > maxWork:
		m.bomb = &Error{end, describe("a module that would take a compiler too long: %v up to here, of which there may be %v",
			time.Duration(m.work), time.Duration(maxWork))}
	}
}

// readLocals reads the groups of locals after their number. It gives their sum, and
// whether there are vectors among them.
func readLocals(r *reader, groups int) (all int, vectors bool) {
	for range groups {
		n := r.u32()
		vectors = valueType(r) == typeV128 || vectors
		if total := int64(all) + int64(n); r.err == nil && total > maxLocals {
			r.failf("%d locals, of which a function may have %d", total, maxLocals)
		}
		if r.err != nil {
			return 0, false
		}
		all += int(n)
	}
	return all, vectors
}
