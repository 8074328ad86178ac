package wasmbin

// What a module may have. The numbers are those that browsers agree on, or less where
// the engine would pay for them at once.
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

// The engine compiles a module before anything of it runs, and cannot be interrupted
// while it does. A few kilobytes can take it minutes and gigabytes: its time grows with
// the square of the number of blocks in a function and of jumps to one label, its
// memory with the number of locals at each jump and of globals at each call. What
// programs have is far from this; modules that are made for it reach it easily. The
// numbers were found by compiling such modules, of which TestBombs has a few.
const (
	// maxWork bounds the time for a module, in nanoseconds: half a minute. That is ten
	// times what a Go program of 4 MB takes.
	maxWork = 30_000_000_000
	// maxPlaces bounds the memory for a function: each place is about 250 bytes.
	maxPlaces = 4_000_000
)

// How the counters are laid out.
const (
	// maxLight is how many instructions a function may have that does not look at the
	// counter.
	maxLight = 256
	// maxPath is how many instructions there may be between two looks at the counter.
	maxPath = 2048
	// maxFreeFrame is how many words of the stack a function may take that is not
	// accounted for, because it calls nothing.
	maxFreeFrame = 4096
	// maxFrame is more than any stack has.
	maxFrame = 1 << 30
)
