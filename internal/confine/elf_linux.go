package confine

// The parts of <elf.h> that the init's program needs. debug/elf has the same types, but
// would link a debugger's libraries into cordon.

type elfHeader struct {
	Ident                               [16]byte
	Type, Machine                       uint16
	Version                             uint32
	Entry, Phoff, Shoff                 uint64
	Flags                               uint32
	Ehsize, Phentsize, Phnum            uint16
	Shentsize, Shnum, SectionNamesIndex uint16
}

type elfSegment struct {
	Type, Flags                                uint32
	Offset, Vaddr, Paddr, Filesz, Memsz, Align uint64
}

const (
	elfClass64      = 2
	elfLittleEndian = 1
	elfVersion      = 1
	elfExecutable   = 2
	elfLoad         = 1
	elfStack        = 0x6474e551
	elfExecute      = 1
	elfWrite        = 2
	elfRead         = 4
)
