package wasmbin

import "time"

// body is a function of the module: its locals and its code.
type body struct {
	data []byte
	base int // the offset of data in the module
	shape
}

func (m *Module) readBodies(r *reader) {
	functions := len(m.functions) - m.imported
	for n := range r.count(maxFunctions, "bodies of functions") {
		size := r.u32()
		if r.err == nil && size > maxBody {
			r.failf("a function of %d bytes: the maximum is %d", size, maxBody)
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

// weigh adds up the work of compiling a function, and records if it is too much.
func (m *Module) weigh(b *body, end int) {
	// This does not overflow: a body has less than 2^23 bytes, and all of them 2^26.
	m.work += b.work(m.variables)
	switch {
	case m.bomb != nil:
	case b.places(m.variables) > maxPlaces:
		m.bomb = &Error{end, describe("a function that needs too much memory to compile: %d jumps and calls with %d locals and %d variables",
			b.edges+b.calls, b.locals, m.variables)}
	case m.work > maxWork:
		m.bomb = &Error{end, describe("a module that takes too long to compile: %v up to here, the maximum is %v",
			time.Duration(m.work), time.Duration(maxWork))}
	}
}

// readLocals reads the groups of locals after their number. It returns how many locals there
// are, and whether some are vectors.
func readLocals(r *reader, groups int) (all int, vectors bool) {
	for range groups {
		n := r.u32()
		vectors = valueType(r) == typeV128 || vectors
		if total := int64(all) + int64(n); r.err == nil && total > maxLocals {
			r.failf("%d locals: the maximum of a function is %d", total, maxLocals)
		}
		if r.err != nil {
			return 0, false
		}
		all += int(n)
	}
	return all, vectors
}
