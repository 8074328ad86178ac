package wasmbin

// Limits of a module. They are those of browsers, or lower where the engine would allocate
// at once.
const (
	maxTypes       = 100_000
	maxParameters  = 1_000
	maxImports     = 10_000
	maxFunctions   = 200_000
	maxGlobals     = 100_000
	maxExports     = 100_000
	maxElements    = 100_000
	maxData        = 100_000
	maxTables      = 100
	maxLocals      = 50_000
	maxBody        = 7_654_321
	maxNesting     = 1_000
	maxBranches    = 65_520
	maxName        = 100_000
	maxTableSize   = 1_000_000
	maxMemoryPages = 65_536
)

// MaxSize is the largest module in bytes.
const MaxSize = 64 << 20

// The engine compiles a module before it runs, and the compilation cannot be interrupted. A few
// kilobytes can take minutes and gigabytes: the time grows with the square of the number of
// blocks in a function and of jumps to one label, the memory with the number of locals at each
// jump and of globals at each call. Real programs are far from these limits; malicious modules
// reach them easily. The numbers were found by compiling such modules; TestBombs has some.
const (
	// maxWork bounds the estimated time to compile a module, in nanoseconds: half a minute,
	// ten times that of a Go program of 4 MB.
	maxWork = 30_000_000_000
	// maxPlaces bounds the memory to compile a function: each place takes about 250 bytes.
	maxPlaces = 4_000_000
)

// Parameters of metering.
const (
	// maxLight bounds the instructions of a function that does not check the counter.
	maxLight = 256
	// maxPath bounds the instructions between two checks of the counter.
	maxPath = 2048
	// maxFreeFrame bounds the stack, in words, of a function that is not counted because
	// it calls nothing.
	maxFreeFrame = 4096
	// maxFrame is larger than any stack.
	maxFrame = 1 << 30
)
