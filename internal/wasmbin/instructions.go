package wasmbin

// The instructions that are handled specially.
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
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
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
	opI32Ne        = 0x47
	opI32LtS       = 0x48
	opI64GeS       = 0x59
	opI32Sub       = 0x6b
	opI64Sub       = 0x7d
	opI64Mul       = 0x7e
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
