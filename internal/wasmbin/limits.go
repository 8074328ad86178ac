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
