package wasmbin

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
		b.shape = m.look(part, m.typeOf(uint32(m.imported+n)))
		if part.err != nil {
			r.err = part.err
			return
		}
		m.bodies = append(m.bodies, b)
		if m.work += b.work(m.variables); m.work > maxWork {
			r.failf("a module that would take a compiler too long: %d, of which it may be %d", m.work, maxWork)
			return
		}
	}
}

// readLocals reads the groups of locals after their number, and gives their sum.
func readLocals(r *reader, groups int) (all int) {
	for range groups {
		n := r.u32()
		valueType(r)
		if total := int64(all) + int64(n); r.err == nil && total > maxLocals {
			r.failf("%d locals, of which a function may have %d", total, maxLocals)
		}
		if r.err != nil {
			return 0
		}
		all += int(n)
	}
	return all
}
