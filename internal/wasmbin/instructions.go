package wasmbin

// The instructions that are looked at.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableSet     = 0x26
	opI32Load      = 0x28
	opI64Store32   = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI64LtS       = 0x53
	opI32LtS       = 0x48
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64ShrU      = 0x88
	opI64ExtendU   = 0xad
	opExtendLast   = 0xc4
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2

	prefixMore   = 0xfc
	prefixVector = 0xfd
)

// After prefixMore.
const (
	moreTruncLast  = 7
	moreMemoryInit = 8
	moreDataDrop   = 9
	moreMemoryCopy = 10
	moreMemoryFill = 11
	moreTableInit  = 12
	moreElemDrop   = 13
	moreTableCopy  = 14
	moreTableGrow  = 15
	moreTableSize  = 16
	moreTableFill  = 17
)

// After prefixVector.
const (
	vectorLoadLast      = 11 // loads and stores
	vectorConst         = 12
	vectorShuffle       = 13
	vectorLaneFirst     = 21
	vectorLaneLast      = 34
	vectorLoadLaneFirst = 84
	vectorLoadLaneLast  = 91
	vectorLoadZeroLast  = 93
	vectorLast          = 255
)

// blockVoid is the type of a block without results.
const blockVoid = 0x40

// instruction is one, in its place.
type instruction struct {
	op    byte
	more  uint32 // the second number, after a prefix
	index uint32 // of the function that it names
	raw   []byte
}

// next reads an instruction.
func (m *Module) next(r *reader) (i instruction) {
	at := r.pos
	i.op = r.byte()
	switch op := i.op; {
	case op == opBlock || op == opLoop || op == opIf:
		r.signed(33)
	case op == opBr || op == opBrIf, op >= opLocalGet && op <= opTableSet:
		r.u32()
	case op == opBrTable:
		for range r.count(maxBranches, "branches") + 1 {
			r.u32()
		}
	case op == opCall || op == opRefFunc:
		i.index = m.function(r)
	case op == opCallIndirect, op >= opI32Load && op <= opI64Store32:
		r.u32()
		r.u32()
	case op == opSelectTyped:
		valueTypes(r, "types of a selection")
	case op == opMemorySize || op == opMemoryGrow, op == opRefNull:
		r.byte()
	case op == opI32Const:
		r.signed(32)
	case op == opI64Const:
		r.signed(64)
	case op == opF32Const:
		r.bytes(4)
	case op == opF64Const:
		r.bytes(8)
	case op == prefixMore:
		i.more = r.u32()
		moreImmediates(r, i.more)
	case op == prefixVector:
		i.more = r.u32()
		vectorImmediates(r, i.more)
	case op == opUnreachable, op == opNop, op == opElse, op == opEnd, op == opReturn,
		op == 0x1a, op == 0x1b, op >= opI32Eqz && op <= opExtendLast, op == opRefIsNull:
	default:
		r.pos = at
		r.failf("instruction %#x, which is not in WebAssembly 2.0", op)
	}
	i.raw = r.since(at)
	return i
}

func moreImmediates(r *reader, op uint32) {
	switch {
	case op <= moreTruncLast:
	case op == moreMemoryInit, op == moreMemoryCopy, op == moreTableInit, op == moreTableCopy:
		r.u32()
		r.u32()
	case op <= moreTableFill:
		r.u32()
	default:
		r.failf("instruction 0xfc %d, which is not in WebAssembly 2.0", op)
	}
}

func vectorImmediates(r *reader, op uint32) {
	switch {
	case op == vectorConst || op == vectorShuffle:
		r.bytes(16)
	case op >= vectorLaneFirst && op <= vectorLaneLast:
		r.byte()
	case op >= vectorLoadLaneFirst && op <= vectorLoadLaneLast:
		r.u32()
		r.u32()
		r.byte()
	case op <= vectorLoadLast, op > vectorLoadLaneLast && op <= vectorLoadZeroLast:
		r.u32()
		r.u32()
	case op > vectorLast:
		r.failf("instruction 0xfd %d, which is not in WebAssembly 2.0", op)
	}
}

// free says that an instruction is not one of the processor's.
func (i instruction) free() bool {
	switch i.op {
	case opNop, opBlock, opLoop, opElse, opEnd:
		return true
	}
	return false
}

// long says that an instruction takes as long as the number on top of the stack is
// large.
func (i instruction) long() bool {
	if i.op != prefixMore {
		return false
	}
	switch i.more {
	case moreMemoryInit, moreMemoryCopy, moreMemoryFill, moreTableInit, moreTableCopy, moreTableGrow, moreTableFill:
		return true
	}
	return false
}
