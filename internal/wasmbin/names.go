package wasmbin

// functionNames returns the custom section with the names of functions, with their new indexes.
// It is only for stack traces: an invalid one is dropped.
func (t *meter) functionNames() []byte {
	const functions = 1
	r := &reader{data: t.names}
	for !r.done() {
		id := r.byte()
		part := r.part(r.u32())
		if id != functions {
			continue
		}
		n := part.count(maxFunctions, "names")
		out := appendU32(nil, uint32(n))
		for range n {
			index, name := part.u32(), part.name()
			if int64(index) >= int64(len(t.functions)) {
				return nil
			}
			out = appendName(appendU32(out, t.moved(index)), name)
		}
		if part.err != nil || !part.done() {
			return nil
		}
		return appendSection(appendName(nil, "name"), functions, out)
	}
	return nil
}
