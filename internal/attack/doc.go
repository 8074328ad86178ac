// Package attack holds the containment attempts: small Python programs, each of which
// really tries to break one promise of the sandbox. The tests and `cordon doctor --prove`
// run the same ones.
//
// To run them all against a Runner, plant the canaries first, so that a host's leaks (an
// environment variable, a descriptor) exist when the Runner starts its first process:
//
//	suite, err := attack.NewSuite(dir)   // attempts and planted canaries
//	defer suite.Close()
//	runner := …                          // only now
//	verdicts, err := suite.Prove(ctx, runner, progress)
//
// Prove does both in one call, for an existing Runner.
//
// A script is in scripts/<area>/<name>.py. Its first lines are a header
// that says what it tries, which walls must stop it and how its run may end:
//
//	# attack: read /etc/shadow through an absolute symlink in /tmp
//	# class: 20
//	# walls: mount landlock
//
// Optional keys: needs (scratch, syscall, memory, threads), absent (modules and names
// that WebAssembly does not have: see Attempt), gvisor (what of its own kernel
// the attempt may reach there), expect (held and
// outcome:NAME, any of which is fine), limits (wall_time=1s …), alone (yes),
// naked (see Naked). The program follows the header. It uses the helpers of
// scripts/_prelude.py and the canaries in `context`, and sets `result` to
// {"escaped": bool, "detail": str}. A line "# --- next run ---" splits it into
// two runs, for state that must not pass from one to the next.
//
// Limits are for a current machine. Before the first attempt the suite measures how much
// slower this one is, and stretches them (see Pace). An attempt that still runs out of
// time is repeated alone, and is "slow" if that does not help.
//
// The host's evidence (Canaries.Check, the size of the output, the clock) wins over a
// script that says it was held (see Judge). A script that cannot succeed anywhere proves
// nothing, so a test runs each one without walls and fails unless it escapes.
//
// What this does not show: that no other attempt would succeed.
package attack
