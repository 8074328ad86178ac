package policy

import "time"

// Limits bound what one run may use. In a request, a zero field means "the
// policy's default"; it never means "no limit".
type Limits struct {
	// WallTime bounds the elapsed time of a run.
	WallTime time.Duration `json:"wall_time,omitempty"`
	// CPUTime bounds the CPU time of all threads of a run together.
	CPUTime time.Duration `json:"cpu_time,omitempty"`
	// Memory bounds the memory that the guest uses above the bare interpreter.
	Memory Bytes `json:"memory,omitempty"`
	// Output bounds stdout and stderr separately.
	Output Bytes `json:"output,omitempty"`
	// Result bounds the guest's result and variables together, as JSON.
	Result Bytes `json:"result,omitempty"`
	// Scratch is the size of the private /tmp.
	Scratch Bytes `json:"scratch,omitempty"`
	// OpenFiles bounds the descriptors, including the standard streams.
	OpenFiles int `json:"open_files,omitempty"`
	// Threads bounds the threads of a run, including the main one.
	Threads int `json:"threads,omitempty"`
	// CPUs bounds how many CPUs the threads of a run use at once. Libraries for numeric work
	// start that many threads.
	CPUs int `json:"cpus,omitempty"`
	// Processes bounds a command's processes. Each of their threads counts as one.
	Processes int `json:"processes,omitempty"`
	// Disk bounds the bytes that a command adds to the directories that it may change.
	Disk Bytes `json:"disk,omitempty"`
	// Files bounds how many files, directories and links a command adds there.
	Files int `json:"files,omitempty"`
	// Fuel bounds the instructions that a module executes. They are counted exactly: the
	// same module with the same input always ends at the same instruction.
	Fuel Count `json:"fuel,omitempty"`
}

// limitTable has one row for each field of Limits, in the same order. It is the only list
// of limits: flags, environment variables, documents, requests, tokens, the OpenAPI
// document, the schemas of tools, outcomes and messages are made from it.
var limitTable = inOrder([]Limit{
	{
		Key: "wall_time", Name: "wall time", Alias: "timeout", Short: "t", Kind: KindDuration,
		Help: "wall time limit, like 10s", About: "By the clock on the wall.",
		Default: int64(30 * time.Second), Maximum: int64(60 * time.Second),
		For:     []Guest{GuestScript, GuestCall, GuestCommand, GuestModule},
		Agents:  []Guest{GuestScript, GuestCommand},
		Outcome: "timed_out", ErrorType: "timeout", Heading: "timed out", ExitCode: 124,
		Reached: "timed out: wall time limit of %v reached", Advice: "Do less at once",
	},
	{
		Key: "cpu_time", Name: "CPU time", Kind: KindDuration,
		Help: "CPU time limit, like 5s", About: "CPU time of all threads together.",
		Default: int64(10 * time.Second), Maximum: int64(60 * time.Second),
		For:     []Guest{GuestScript, GuestCall, GuestCommand, GuestModule},
		Outcome: "out_of_cpu", ErrorType: "cpu_limit", Heading: "killed", ExitCode: 137,
		Reached: "CPU time limit of %v reached", Advice: "Compute less at once",
	},
	{
		Key: "memory", Name: "memory", Short: "m", Kind: KindBytes, OfSession: true,
		Help: "memory limit, like 128MiB", About: "Above the bare interpreter.",
		Default: int64(256 * MiB), Maximum: int64(1 * GiB),
		// With less, a run would fail with a message that blames the script.
		Least: int64(1 * MiB), TooLittle: "too little for any script",
		For:    []Guest{GuestScript, GuestCall, GuestCommand, GuestModule},
		Agents: []Guest{GuestScript}, AgentUnit: MiB,
		Outcome: "out_of_memory", ErrorType: "memory_limit", Heading: "killed", ExitCode: 137,
		Reached: "memory limit of %v reached", Advice: "Hold less at once",
	},
	{
		Key: "output", Name: "output", Alias: "output-limit", Short: "o", Kind: KindBytes,
		Help: "limit on stdout and on stderr, like 16KiB", About: "Of stdout and of stderr, each for itself.",
		Default: int64(64 * KiB), Maximum: int64(256 * KiB),
		For:     []Guest{GuestScript, GuestCall, GuestCommand, GuestModule},
		Agents:  []Guest{GuestScript},
		Outcome: "out_of_output", ErrorType: "output_limit", Heading: "killed", ExitCode: 137,
		Reached: "output limit of %v reached", Advice: "Print less",
	},
	{
		Key: "result", Name: "result", Alias: "result-limit", Kind: KindBytes,
		Help: "limit on the result and variables as JSON, like 1MiB", About: "Of the result and the variables together, as JSON.",
		Default: int64(8 * MiB), Maximum: int64(32 * MiB), Most: int64(MaxResult),
		For:     []Guest{GuestScript, GuestCall, GuestModule},
		Outcome: "out_of_result", ErrorType: "result_limit", Heading: "result too large", ExitCode: 1,
		Reached: "result limit of %v reached: result and variables take more as JSON", Advice: "Leave less in `result` and variables, or print what matters",
	},
	{
		Key: "scratch", Name: "scratch space", Kind: KindBytes, OfSession: true,
		Help: "size of the private /tmp", About: "The size of the private /tmp.",
		Default: int64(16 * MiB), Maximum: int64(64 * MiB),
		For:     []Guest{GuestScript, GuestCommand},
		Outcome: "out_of_disk", ErrorType: "disk_limit", Heading: "killed", ExitCode: 137,
		Reached: "scratch limit of %v reached", Advice: "Write less",
	},
	{
		Key: "open_files", Name: "open files", Kind: KindNumber, OfSession: true,
		Help: "limit on open files", About: "Descriptors, the standard streams included.",
		Default: 64, Maximum: 64, Most: MaxOpenFiles,
		Least: 8, TooLittle: "too few for an interpreter",
		For: []Guest{GuestScript, GuestCommand, GuestModule},
		// A guest can continue without another file, so the outcome is how it ends itself.
		Outcome: "exited", ErrorType: "exception",
		Reached: "limit of %v open files reached", Advice: "Close what is no longer needed",
	},
	{
		Key: "threads", Name: "threads", Kind: KindNumber, OfSession: true,
		Help: "limit on threads", About: "Threads, the main one included.",
		Default: 16, Maximum: 16,
		For: []Guest{GuestScript},
	},
	{
		Key: "cpus", Name: "CPUs", Kind: KindNumber, OfSession: true,
		Help: "limit on CPUs used at once, and the threads of numeric libraries", About: "CPUs used at once. Numeric libraries start as many threads.",
		Default: 1, Maximum: 4,
		For: []Guest{GuestScript},
	},
	{
		Key: "processes", Name: "processes", Kind: KindNumber,
		Help: "limit on processes and their threads", About: "A command's processes, each of their threads counted.",
		Default: 64, Maximum: 256,
		For:     []Guest{GuestCommand},
		Outcome: "out_of_processes", ErrorType: "process_limit", Heading: "killed", ExitCode: 137,
		Reached: "limit of %v processes reached", Advice: "Start fewer at once",
	},
	{
		Key: "disk", Name: "disk", Kind: KindBytes,
		Help: "limit on what is added to the workspace and other directories, like 1GiB", About: "What a command adds to the directories that it may change.",
		Default: int64(64 * MiB), Maximum: int64(1 * GiB),
		For:     []Guest{GuestCommand, GuestModule},
		Outcome: "out_of_disk", ErrorType: "disk_limit", Heading: "killed", ExitCode: 137,
		Reached: "disk limit of %v reached", Advice: "Write less",
	},
	{
		Key: "files", Name: "files", Kind: KindNumber,
		Help: "limit on files, directories and links that are added there", About: "How many files, directories and links a command adds there.",
		Default: 50_000, Maximum: 500_000,
		For:     []Guest{GuestCommand},
		Outcome: "out_of_disk", ErrorType: "disk_limit", Heading: "killed", ExitCode: 137,
		Reached: "limit of %v new files reached", Advice: "Write less",
	},
	{
		Key: "fuel", Name: "instructions", Kind: KindCount,
		Help: "limit on instructions, like 50M", About: "Instructions of a WebAssembly module.",
		Default: 1e12, // more than a run can execute within its time limit
		Maximum: 1e15,
		For:     []Guest{GuestModule},
		Outcome: "out_of_fuel", ErrorType: "fuel_limit", Heading: "killed", ExitCode: 137,
		Reached: "limit of %v instructions reached", Advice: "Compute less",
	},
})

// MaxOpenFiles is the highest open_files a policy may grant. Descriptors above it belong to
// the host side of the fork server, and a guest must never have them.
const MaxOpenFiles = 1000

// MaxResult is the highest result a policy may grant: the host holds it in memory.
const MaxResult = 64 * MiB
