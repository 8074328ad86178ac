package wasmbin

// looking finds the functions of known code that must check the counter at their start, given
// that all loops do: enough that no recursion happens without a check, and that no function,
// with all that it calls, does more than maxPath without one.
//
// The target of an indirect call is unknown, so a function with one may be recursive. For the
// others, a depth-first walk of the calls finds those that lead back to an unfinished function,
// and adds up the work of finished ones.
func (m *Module) looking() (found bitset) {
	calls := make([][]int, len(m.bodies))
	for n := range m.bodies {
		var indirect bool
		if calls[n], indirect = m.calledBy(&m.bodies[n]); indirect {
			found.add(n)
		}
	}
	const (
		unseen = iota
		under  // its calls are being walked
		done
	)
	state := make([]byte, len(m.bodies))
	work := make([]int64, len(m.bodies)) // including called functions
	for first := range m.bodies {
		if state[first] != unseen {
			continue
		}
		state[first] = under
		for way := []int{first}; len(way) > 0; {
			n := way[len(way)-1]
			if len(calls[n]) == 0 {
				if work[n] += m.bodies[n].instructions; work[n] > maxPath {
					found.add(n)
				}
				state[n] = done
				way = way[:len(way)-1]
				continue
			}
			switch next := calls[n][0]; {
			case state[next] == unseen:
				state[next] = under
				way = append(way, next)
				continue
			case state[next] == under:
				found.add(next)
			case !found.has(next):
				work[n] += work[next]
			}
			calls[n] = calls[n][1:]
		}
	}
	return found
}

// calledBy returns the functions of the module that a function calls directly, and whether it
// has indirect calls.
func (m *Module) calledBy(b *body) (calls []int, indirect bool) {
	r := &reader{data: b.data, base: b.base}
	readLocals(r, int(r.u32()))
	d := &decoder{Module: m, reader: r, locals: b.locals}
	for depth := 1; depth > 0 && r.err == nil; {
		d.depth = depth - 1
		switch i := d.next(); i.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			depth--
		case opCallIndirect:
			indirect = true
		case opCall:
			if n := int(i.index) - m.imported; n >= 0 {
				calls = append(calls, n)
			}
		}
	}
	return calls, indirect
}
