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

const (
	// maxMerges bounds how deep the engine's compiler calls itself: it follows a
	// local back through all places where ways meet.
	maxMerges = 100_000
	// maxWork bounds what its compiler has to do and to remember.
	maxWork = 1 << 40
	// maxLight is how many instructions a function has that does not look at the
	// counter.
	maxLight = 256
	// maxFreeFrame is how many words of the stack a function may take that is not
	// accounted for, because it calls nothing.
	maxFreeFrame = 4096
	// maxFrame is more than any stack has.
	maxFrame = 1 << 30
	// maxPath is how many instructions are between two looks at the counter.
	maxPath = 2048
)
