package wasmbin

func (t *meter) codeSection() ([]byte, error) {
	out := appendU32(nil, uint32(len(t.bodies)))
	for i, b := range t.bodies {
		f := &function{meter: t, body: b, signature: t.Module.types[t.functions[i]]}
		code, err := f.rewrite()
		if err != nil {
			return nil, err
		}
		out = append(appendU32(out, uint32(len(code))), code...)
	}
	if len(t.bodies) == 0 {
		return nil, nil
	}
	return out, nil
}

// function is a function's body on its way from old to new.
type function struct {
	*meter
	body
	signature
	out []byte
	// piece is straight code that has not been paid for, and cost what it costs.
	piece []byte
	cost  int64
	depth int // of blocks
}

// left and length are locals of ours: what is left of the counter, and the number of
// bytes that a long instruction is about to move.
func (f *function) left() uint32   { return uint32(len(f.parameters) + f.count) }
func (f *function) length() uint32 { return f.left() + 1 }

func (f *function) rewrite() ([]byte, error) {
	f.out = append(appendU32(nil, uint32(f.groups)+2), f.locals...)
	f.out = append(f.out, 1, typeI64, 1, typeI32)
	f.enter()
	r := &reader{data: f.code, base: f.at}
	for f.depth >= 0 {
		i := f.next(r)
		if r.err != nil {
			return nil, r.err
		}
		if f.depth > maxNesting {
			r.failf("%d blocks inside of each other, which may be %d", f.depth, maxNesting)
			return nil, r.err
		}
		f.add(i)
	}
	if !r.done() {
		r.failf("code behind the end of a function")
		return nil, r.err
	}
	return f.out, nil
}

// enter pays for the call.
func (f *function) enter() {
	if f.Grain == Coarse {
		f.charge(1)
	}
	if !f.Stack {
		return
	}
	words := int64(frameCost + len(f.parameters) + f.count)
	f.addToStack(-words)
	f.op(opGlobalGet, f.stack)
	f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, blockVoid)
	f.op(opCall, f.overflow)
	f.out = append(f.out, opEnd)
	// Whoever leaves the function leaves this block, by the label that was the
	// function's own.
	f.out = append(f.out, opBlock)
	switch results := f.results; len(results) {
	case 0:
		f.out = append(f.out, blockVoid)
	case 1:
		f.out = append(f.out, results[0])
	default:
		f.out = appendSigned(f.out, int64(f.typeOf(signature{results: results})))
	}
}

// leave gives the room back.
func (f *function) leave() {
	if f.Stack {
		f.out = append(f.out, opEnd)
		f.addToStack(int64(frameCost + len(f.parameters) + f.count))
	}
	f.out = append(f.out, opEnd)
}

func (f *function) addToStack(words int64) {
	f.op(opGlobalGet, f.stack)
	f.out = appendSigned(append(f.out, opI32Const), words)
	f.out = append(f.out, opI32Add)
	f.op(opGlobalSet, f.stack)
}

func (f *function) op(op byte, index uint32) { f.out = appendU32(append(f.out, op), index) }

// add takes one instruction over.
func (f *function) add(i instruction) {
	if !i.free() {
		f.cost++
	}
	switch i.op {
	case opEnd:
		f.pay()
		if f.depth--; f.depth < 0 {
			f.leave()
			return
		}
		f.out = append(f.out, opEnd)
	case opElse:
		f.pay()
		f.out = append(f.out, opElse)
	case opLoop:
		f.depth++
		f.piece = append(f.piece, i.raw...)
		f.pay()
		if f.Grain == Coarse {
			f.charge(1)
		}
	case opBlock:
		f.depth++
		f.piece = append(f.piece, i.raw...)
	case opIf:
		f.depth++
		f.piece = append(f.piece, i.raw...)
		f.pay()
	case opBr, opBrIf, opBrTable, opUnreachable:
		f.piece = append(f.piece, i.raw...)
		f.pay()
	case opReturn:
		if f.Stack {
			f.piece = appendU32(append(f.piece, opBr), uint32(f.depth))
		} else {
			f.piece = append(f.piece, i.raw...)
		}
		f.pay()
	case opCall, opRefFunc:
		f.piece = appendU32(append(f.piece, i.op), f.moved(i.index))
	default:
		if i.long() {
			f.pay()
			f.chargeLength()
		}
		f.piece = append(f.piece, i.raw...)
	}
}

// pay ends a piece of straight code. What it costs is paid before it begins.
func (f *function) pay() {
	if f.Grain == Exact && f.cost > 0 {
		f.charge(f.cost)
	}
	f.out = append(f.out, f.piece...)
	f.piece, f.cost = f.piece[:0], 0
}

func (f *function) charge(cost int64) {
	f.op(opGlobalGet, f.counter)
	f.out = appendSigned(append(f.out, opI64Const), cost)
	f.subtract()
}

// chargeLength charges for a long instruction. It has been counted as one already.
func (f *function) chargeLength() {
	f.op(opLocalTee, f.length())
	f.op(opGlobalGet, f.counter)
	f.op(opLocalGet, f.length())
	f.out = append(f.out, opI64ExtendU, opI64Const, bulkShift, opI64ShrU)
	f.subtract()
}

// subtract takes what is on the stack from the counter below it, and asks the host
// for more when nothing is left.
func (f *function) subtract() {
	f.out = append(f.out, opI64Sub)
	f.op(opLocalTee, f.left())
	f.op(opGlobalSet, f.counter)
	f.op(opLocalGet, f.left())
	f.out = append(f.out, opI64Const, 0, opI64LtS, opIf, blockVoid)
	f.op(opLocalGet, f.left())
	f.op(opCall, f.refill)
	f.op(opGlobalSet, f.counter)
	f.out = append(f.out, opEnd)
}
