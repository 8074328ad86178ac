// Package cordon runs untrusted code behind kernel walls and returns the result:
// Python scripts, each in a fresh CPython, and commands, each in its own root file
// system. WebAssembly modules run in your own process.
//
// # Tasks
//
// Run a script. A [Runner] owns fork servers and a pool of workers that are already
// confined and wait for a script. Make one and keep it:
//
//	r, err := cordon.NewRunner(cordon.Options{})
//	defer r.Close()
//	res, err := r.Run(ctx, run.Request{Script: run.Script{Source: src, Context: map[string]any{"a": 41}}})
//
// The script reads its input from the global variable context. The value of its global
// variable result is in [run.Result].Value, as JSON.
//
// Run a command, with all the processes that it starts, in a directory of the host
// that it may change:
//
//	r, err := cordon.NewRunner(cordon.Options{Tier: policy.TierJail})
//	defer r.Close()
//	res, err := r.Run(ctx, run.Request{Command: run.Command{Args: []string{"make", "test"}, Workspace: dir}})
//
// It sees the system's programs, its workspace and a private /tmp. A command is not
// started if its arguments name files or hosts that it cannot reach, or if it is a
// shell or another interpreter that the policy does not allow: the Outcome is
// [run.Refused]. The preset "command" ([policy.Preset]) has limits for a build.
// Any Runner runs commands and scripts; Tier says which tier starts with it.
//
// Run a WebAssembly module. [Runner.OpenModule] checks and compiles it once. You can
// then run a program for WASI with arguments, or call a function of a library with
// JSON, each time in a new instance:
//
//	m, err := r.OpenModule(ctx, binary)
//	defer m.Close()
//	res, err := r.Run(ctx, run.Request{Module: run.ModuleRun{Module: m, Args: args}, Limits: policy.Limits{Fuel: 50e6}})
//	res, err = m.Call(ctx, "score", input)
//
// A module has no system calls. It can use what the policy grants and the Tools of its
// [run.ModuleRun]. Its instructions are counted exactly. Scripts can run on this tier
// too, if their Tier is [policy.TierWasm] and a Python for WebAssembly is installed. A
// Runner with this tier ([Options].Tier) works on every system. See docs/wasm.md.
//
// Distinguish failures of the guest from failures of cordon. Whatever the guest does
// gives a Result, whose Outcome says how it ended. An error means that the request is
// wrong ([run.ErrInvalid]), that this host lacks a required wall
// ([run.ErrUnsupported]), that too many requests are waiting ([run.ErrBusy]), or that
// cordon itself failed.
//
// Call a script often. [Runner.OpenHook] checks and compiles it once, and
// [Hook.CallFunction] calls a function of it in tens of microseconds, each time with new
// globals:
//
//	h, err := r.OpenHook(ctx, run.HookSpec{Script: src})
//	defer h.Close()
//	res, err := h.CallFunction(ctx, "score", state)
//
// Check a script before it runs. [Runner.Check] applies the language rules to a script
// without running it, and [run.Script].Restricted applies them to a run.
//
// Limit a run with [run.Request].Limits. Zero fields mean the policy's defaults. A
// request above the policy's maxima is refused.
//
// Say what guests may do with [Options].Policy. Its zero value requires the walls of
// [policy.DefaultRequired] and grants nothing. The operator of cordon sets the policy,
// and a request cannot widen it.
//
// See which walls were enforced. [Runner.Enforcement], and Enforcement in each Result,
// list every wall as "enforced", or as "missing" with the reason.
//
// See what was blocked. Violations in a Result lists it, with a hint for the author of
// the code. The kernel reports denied system calls, and the proxy reports refused
// connections. A script's attempt to open a file outside the walls is listed only if
// the script did not catch the exception.
//
// Follow a run with [run.Request].Streams. To end it early, cancel its context: the
// guest is killed at once, and the Outcome is [run.Canceled].
//
// # What happens to your program
//
// The Runner forks your program to start a confined interpreter, to replace one, and
// to build the sandbox of each command. The copy lives for a few milliseconds and runs
// none of your code. Two threads of your program serve each interpreter: one waits for
// its end, the other answers it. Signal handlers, the working directory and the
// environment do not change. The tier `wasm` does not fork: guests run in the
// goroutines of their callers, in your address space.
//
// # Limits
//
//   - On Linux (amd64, arm64) the tiers are `process`, for scripts, and `hook`, both
//     with CPython 3.9 or newer, and `jail`, for commands. macOS and Windows have
//     `process` and `jail`, behind the walls of those systems, with one process for
//     each run and without third-party code. The tier `wasm`, for modules and for
//     scripts that ask for it, works on every system.
//   - A worker runs one script and dies, or serves one hook. Only a [Session] keeps state
//     for its next step, in memory and in its /tmp. Other files stay only if a command
//     writes them to its workspace or to the policy's Write grants.
//   - A guest can reach only the hosts in the policy's AllowNet, through a proxy. For
//     commands, the policy's Egress can lift this restriction.
//   - A script starts no processes, sees no /proc, and writes only to its own /tmp.
//     On a host without namespaces, it can write nowhere.
//   - A command may start processes, sees only its own in /proc, and writes to its
//     /tmp, its workspace and the Write grants. On a host without namespaces, it is
//     refused.
//   - A script with limits above the policy's defaults, or with another size of /tmp,
//     does not get a worker from the pool: it waits while its worker is forked.
//   - Scripts are at most 16 MiB; requests and results 64 MiB.
//   - Each waiting worker ([Options].Idle) takes up to 3 MiB of memory.
//
// # What this does not stop
//
//   - A kernel bug that is reachable through the system calls that a guest may make.
//     Guests share the host's kernel.
//   - On the tier `wasm`: a bug in the engine. No kernel wall is behind it, and a guest
//     that escapes is in your process. Therefore this tier refuses third-party code.
//   - Side channels: timing, caches, load, and leaks of the processor.
//   - Covert channels between guests that run at the same time and cooperate: load, and
//     read locks on files that all of them may read.
//   - A guest that uses all of its limits. Limits bound one run;
//     [Options].Concurrent bounds how many run at once.
//   - Gaps in the language rules. They are a second wall; the kernel's walls are the
//     boundary.
//   - False reports of a guest. Its result, its output and its exceptions are as
//     untrusted as its code.
//   - A command that damages its workspace, or leaves code in it for the next user.
//   - On a host without namespaces: a script can see the host name, process ids, and
//     the names and sizes of files.
//
// SECURITY.md has the threat model. SPECIFICATION.md has the promises and the tests
// that prove them.
package cordon
