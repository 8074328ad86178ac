package wasmbin

// naive meters a module in the simplest way: it subtracts the cost of each instruction
// separately, never keeps the counter in a local, and never checks it. It is the reference for
// what Exact counts.
func naive(m *Module) []byte {
	t := &meter{Module: m}
	t.counter = uint32(m.globals)
	t.refill = uint32(m.imported)
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, id := range order {
		data := t.section(id)
		if id == codeSection {
			data = t.naiveCode()
		}
		if len(data) > 0 {
			out = appendSection(out, id, data)
		}
	}
	return out
}

func (t *meter) naiveCode() []byte {
	out := appendU32(nil, uint32(len(t.bodies)))
	for _, body := range t.bodies {
		r := &reader{data: body.data, copying: true, moved: t.moved}
		groups := r.rawU32()
		readLocals(r, int(groups))
		code := b(u(int(groups)+2), r.out, 1, typeI32, 1, typeI32)
		length, grown := get(body.locals), get(body.locals+1)
		subtract := func(amount ...any) []byte {
			return b(gget(int(t.counter)), b(amount...), opI64Sub, gset(int(t.counter)))
		}
		d := &decoder{Module: t.Module, reader: r, locals: body.locals}
		for open := 1; open > 0; {
			r.out = r.out[:0]
			d.depth = open - 1
			i := d.next()
			raw := r.out
			switch i.op {
			case opBlock, opLoop:
				open++
			case opIf:
				open++
				code = append(code, subtract(i64c(1))...)
			case opEnd:
				open--
			case opElse, opNop:
			default:
				code = append(code, subtract(i64c(1))...)
			}
			amount := b(length, opI64ExtendU)
			switch {
			case i.op == opMemoryGrow:
				raw = b(tee(body.locals), raw, tee(body.locals+1), grown, i32c(-1), opI32Ne,
					ifThen(subtract(amount, i64c(1024), opI64Mul)))
			case i.op == prefixMore && i.more == moreTableGrow:
				raw = b(tee(body.locals), raw, tee(body.locals+1), grown, i32c(-1), opI32Ne,
					ifThen(subtract(amount, i64c(6), opI64ShrU)))
			case i.op == prefixMore && (i.more >= moreMemoryInit && i.more != moreDataDrop && i.more != moreElemDrop && i.more <= moreTableCopy || i.more == moreTableFill):
				raw = b(tee(body.locals), subtract(amount, i64c(6), opI64ShrU), raw)
			}
			code = append(code, raw...)
		}
		out = append(append(out, u(len(code))...), code...)
	}
	return out
}
