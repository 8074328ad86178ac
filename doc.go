// Package cordon runs code that you do not trust behind kernel walls, and gives
// back what became of it: Python scripts, each in a fresh CPython, and any
// command, each in a root of its own. WebAssembly it runs in your own process.
//
// # Tasks
//
// Run a script. A [Runner] owns fork servers and a pool of workers that wait,
// warmed and walled in; make one and keep it:
//
//	r, err := cordon.NewRunner(cordon.Options{})
//	defer r.Close()
//	res, err := r.Run(ctx, run.Request{Script: run.Script{Source: src, Context: map[string]any{"a": 41}}})
//
// The script finds its input in the global context, and what it leaves in the
// global result comes back in [run.Result].Value, as JSON.
//
// Run a command, with all the processes that it starts, in a directory of the host
// that it may change:
//
//	r, err := cordon.NewRunner(cordon.Options{Tier: policy.TierJail})
//	defer r.Close()
//	res, err := r.Run(ctx, run.Request{Command: run.Command{Args: []string{"make", "test"}, Workspace: dir}})
//
// It sees the system's programs, its workspace and a private /tmp. A command that
// names files or hosts which it cannot reach, or that is a shell or another
// interpreter without the policy's leave, is not started: the Outcome is
// [run.Refused]. The preset "command" ([policy.Preset]) has limits for a build.
// Any Runner runs commands and scripts; Tier says what is started with it.
//
// Run a WebAssembly module: [Runner.OpenModule] checks and compiles it once; a
// program for WASI is then run with arguments, and a function of a library called
// with JSON, each in a new instance:
//
//	m, err := r.OpenModule(ctx, binary)
//	defer m.Close()
//	res, err := r.Run(ctx, run.Request{Module: run.ModuleRun{Module: m, Args: args}, Limits: policy.Limits{Fuel: 50e6}})
//	res, err = m.Call(ctx, "score", input)
//
// It has no system calls, and finds what the policy grants and what
// [run.Request].Tools offer. Its instructions are counted, exactly. Scripts run there
// too, if their Tier is [policy.TierWasm] and there is a Python for it. Such a Runner
// ([Options].Tier) works on every system. docs/wasm.md has the rest.
//
// Tell the guest's failures from ours. Whatever the guest does is a Result:
// its Outcome says how it ended, from evidence. An error means that the request
// is wrong ([run.ErrInvalid]), that this host cannot give a required wall
// ([run.ErrUnsupported]), that too much is waiting ([run.ErrBusy]), or that
// cordon itself failed.
//
// Call a script often: [Runner.OpenHook] checks and compiles it once, and
// [Hook.Call] runs it in tens of microseconds, in new globals each time:
//
//	h, err := r.OpenHook(ctx, run.HookSpec{Script: src})
//	defer h.Close()
//	res, err := h.Call(ctx, state, config)
//
// Tell the author early: [Runner.Check] judges a script by the language rules
// without running it, and [run.Request].Restricted applies them to a run.
//
// Narrow a run: [run.Request].Limits. Zero fields mean the policy's defaults,
// and no request gets more than the policy's maxima.
//
// Say what guests may do: [Options].Policy. Its zero value is the
// default: it requires the walls of [policy.DefaultRequired] and grants
// nothing. A policy is set by whoever operates cordon; a request cannot widen
// it.
//
// See what stood: [Runner.Enforcement], and Enforcement in each Result, name
// every wall and say "enforced" or "missing" and why.
//
// See what was tried: Violations in a Result names what was blocked, with a
// hint for whoever wrote the code. Denied system calls are counted by the
// kernel's own report, and refused connections by the proxy; a script's attempts
// at files outside the walls are named when the exception about them was not
// caught.
//
// Follow a run live: [run.Request].Streams. End it early: cancel its context;
// the guest is killed at once, and the Outcome is [run.Canceled].
//
// # What happens to your program
//
// The Runner forks it to start an interpreter behind walls, again when it
// replaces one, and for the sandbox of each command. The copy lives for a few milliseconds and runs none of your
// code. A thread of your program waits for each interpreter, and one more
// attends to it. Signals, the working directory and the environment stay as they
// are. On the tier `wasm` nothing is forked: guests run in the goroutines of their
// callers, in your address space.
//
// # Limits
//
//   - The tiers are `process`, for scripts, and `hook`, with CPython 3.9 or newer,
//     and `jail`, for commands; on Linux, amd64 or arm64. On macOS and Windows the
//     first and the last are there too, behind those systems' walls, with one process
//     a run and without third-party code. The tier `wasm`, for modules and for scripts
//     that ask for it, is there on every system.
//   - A worker runs one script and dies, or serves one hook. Only a [Session],
//     on the tier `wasm`, keeps something for the next run, and no files pass
//     from one to the next but what commands leave in their workspace and in the
//     policy's Write grants.
//   - No guest has a network but what the policy's AllowNet names, through a
//     proxy; for commands the policy's Egress can lift that.
//   - A script starts no processes, sees no /proc, and writes to its own /tmp
//     alone. Where the host allows no namespaces, it writes nowhere.
//   - A command may start processes, sees its own in /proc, and writes to its
//     /tmp, its workspace and the Write grants. Where the host allows no
//     namespaces, it is refused.
//   - A script above the policy's default limits, or with another size of /tmp,
//     is not served from the pool: its worker is forked while it waits.
//   - Scripts are at most 16 MiB; requests and results 64 MiB.
//   - Not all of [Options] is free: each waiting worker takes memory, up to
//     3 MiB.
//
// # What this does not stop
//
//   - A bug in the kernel that can be reached by the system calls a guest may
//     make. Guests share the host's kernel.
//   - On the tier `wasm`: a bug in the engine. There is no kernel wall behind it, and
//     what gets through is in your process. So it refuses third-party code.
//   - Side channels: timing, caches, load, and what the processor leaks.
//   - Covert channels between guests that run at the same time and want to
//     talk: load, and read locks on files that all of them may read.
//   - A guest that uses all it is allowed to use. Limits bound one run;
//     [Options].Concurrent bounds how many there are at once.
//   - What the language rules miss. They are a second wall; the kernel's walls
//     are the boundary.
//   - A guest that lies. Its result, its output, and an exception that it
//     raises are its own words; treat them as you treat the code.
//   - A command that spoils its workspace, or leaves code in it for whoever works
//     there next.
//   - On a host without namespaces: that a script sees the host's name, the
//     numbers of processes, and which files exist and how large they are.
//
// SECURITY.md has the threat model, and SPECIFICATION.md the promises with the
// tests that prove them.
package cordon
