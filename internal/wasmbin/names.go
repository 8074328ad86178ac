package wasmbin

// names gives the custom section with the names of functions, in their new places. It
// is for people who read a trace: one with a mistake is left out.
func (t *meter) names() []byte {
	const functionNames = 1
	for _, s := range t.sections {
		r := s.reader()
		if s.id != customSection || r.name() != "name" {
			continue
		}
		for !r.done() {
			id := r.byte()
			part := r.part(r.u32())
			if id != functionNames {
				continue
			}
			n := part.count(maxFunctions, "names")
			out := appendU32(nil, uint32(n))
			for range n {
				index, name := part.u32(), part.name()
				out = appendName(appendU32(out, t.moved(index)), name)
			}
			if part.err != nil || !part.done() {
				return nil
			}
			return appendSection(appendName(nil, "name"), functionNames, out)
		}
	}
	return nil
}
