package wasmbin

// looking finds the functions of known code that have to look at the counter when they
// begin, if all loops do: so many that no function comes back to itself by calls alone
// without a look, and that none does more than maxPath with all that it calls without
// one.
//
// Where a pointer leads to is not known: whoever calls through one may come back to
// itself. Of the others, a walk along the calls finds those that lead back to a function
// that has not ended, and adds up those that have.
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
		under  // what it calls is being walked
		done
	)
	state := make([]byte, len(m.bodies))
	work := make([]int64, len(m.bodies)) // with that of what it calls
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

// calledBy gives the module's own functions that one calls by name, and whether it calls
// others through pointers.
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
