package wasmbin

// instruction is a decoded instruction. Its numbers are those of the original module.
type instruction struct {
	op     byte
	more   uint32 // the second number, after a prefix
	index  uint32 // of the function, type, local or label that it names
	block  signature
	labels []uint32 // of a table of jumps, until the next instruction
}

// decoder reads the code of one function. It checks the indexes to which rewriting adds: a
// local or global that does not exist must not become one of ours.
type decoder struct {
	*Module
	*reader
	locals int // including parameters
	depth  int // of blocks, without the function itself
	labels []uint32
}

// next reads an instruction.
func (d *decoder) next() (i instruction) {
	at := d.pos
	i.op = d.byte()
	switch op := i.op; {
	case op == opBlock || op == opLoop || op == opIf:
		i.block = d.blockType()
	case op == opBr || op == opBrIf:
		i.index = d.label()
	case op == opBrTable:
		i.labels = d.labels[:0]
		for range d.count(maxBranches, "branches") + 1 {
			i.labels = append(i.labels, d.label())
		}
		d.labels = i.labels
	case op == opCall || op == opRefFunc:
		i.index = d.function(d.reader)
	case op == opCallIndirect:
		i.index = d.typeIndex(d.reader)
		d.table()
	case op == opLocalGet || op == opLocalSet || op == opLocalTee:
		i.index = d.below(d.locals, "local")
	case op == opGlobalGet || op == opGlobalSet:
		i.index = d.below(d.globals, "global")
	case op == opTableGet || op == opTableSet:
		d.table()
	case op >= opI32Load && op <= opI64Store32:
		d.u32()
		d.u32()
	case op == opSelectTyped:
		if n := len(valueTypes(d.reader, "types of a selection")); d.err == nil && n != 1 {
			d.failf("a selection of %d types", n)
		}
	case op == opMemorySize || op == opMemoryGrow:
		d.zero("memory")
	case op == opRefNull:
		referenceType(d.reader)
	case op == opI32Const:
		d.signed(32)
	case op == opI64Const:
		d.signed(64)
	case op == opF32Const:
		d.bytes(4)
	case op == opF64Const:
		d.bytes(8)
	case op == prefixMore:
		i.more = d.u32()
		d.moreImmediates(i.more)
	case op == prefixVector:
		i.more = d.u32()
		d.vectorImmediates(i.more)
	case op == opUnreachable, op == opNop, op == opElse, op == opEnd, op == opReturn,
		op == opDrop, op == opSelect, op >= opI32Eqz && op <= opExtendLast, op == opRefIsNull:
	default:
		d.pos = at
		d.failf("instruction %#x, which is not in WebAssembly 2.0", op)
	}
	return i
}

func (d *decoder) blockType() signature {
	switch t := d.signed(33); {
	case d.err != nil:
	case t >= int64(len(d.types)):
		d.failf("type %d of %d", t, len(d.types))
	case t >= 0:
		return d.types[t]
	case t < -0x40:
		d.failf("an unknown type of a block: %d", t)
	case t != blockVoid-0x80:
		// One byte of a signed number: value types are negative.
		list := []byte{byte(t) & 0x7f}
		checkValueType(d.reader, list[0])
		return signature{results: list}
	}
	return signature{}
}

func (d *decoder) label() uint32 { return d.below(d.depth+1, "label") }
func (d *decoder) table() uint32 { return d.below(len(d.tables), "table") }

func (d *decoder) moreImmediates(op uint32) {
	switch op {
	case moreMemoryInit:
		d.u32()
		d.zero("memory")
	case moreMemoryCopy:
		d.zero("memory")
		d.zero("memory")
	case moreMemoryFill:
		d.zero("memory")
	case moreDataDrop, moreElemDrop:
		d.u32()
	case moreTableInit:
		d.u32()
		d.table()
	case moreTableCopy:
		d.table()
		d.table()
	case moreTableGrow, moreTableSize, moreTableFill:
		d.table()
	default:
		if op > moreTruncLast {
			d.failf("instruction 0xfc %d, which is not in WebAssembly 2.0", op)
		}
	}
}

func (d *decoder) vectorImmediates(op uint32) {
	switch {
	case op == vectorConst || op == vectorShuffle:
		d.bytes(16)
	case op >= vectorLaneFirst && op <= vectorLaneLast:
		d.byte()
	case op >= vectorLoadLaneFirst && op <= vectorLoadLaneLast:
		d.u32()
		d.u32()
		d.byte()
	case op <= vectorLoadLast, op > vectorLoadLaneLast && op <= vectorLoadZeroLast:
		d.u32()
		d.u32()
	case op > vectorLast:
		d.failf("instruction 0xfd %d, which is not in WebAssembly 2.0", op)
	}
}

// cost returns the fuel of an instruction. Instructions that only give structure cost
// nothing.
func (i instruction) cost() int64 {
	switch i.op {
	case opNop, opBlock, opLoop, opElse, opEnd:
		return 0
	}
	return 1
}

// long reports whether the time of an instruction is proportional to the number on top of the
// stack.
func (i instruction) long() bool {
	if i.op != prefixMore {
		return false
	}
	switch i.more {
	case moreMemoryInit, moreMemoryCopy, moreMemoryFill, moreTableInit, moreTableCopy, moreTableFill:
		return true
	}
	return false
}

// grows reports whether the time of an instruction is proportional to the number on top of the
// stack if it succeeds. It takes no time if it fails.
func (i instruction) grows() bool {
	return i.op == opMemoryGrow || i.op == prefixMore && i.more == moreTableGrow
}
