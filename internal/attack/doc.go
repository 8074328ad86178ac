// Package attack holds the containment attempts: small Python programs that
// try, for real, to break one promise of the sandbox each. The tests and
// `cordon doctor --prove` run the same ones.
//
// To run them all against a Runner, plant the canaries first, so that what a
// host may leak (an environment variable, a descriptor) is there to be leaked
// when the Runner starts its first process:
//
//	suite, err := attack.NewSuite(dir)   // attempts and planted canaries
//	defer suite.Close()
//	runner := …                          // only now
//	verdicts, err := suite.Prove(ctx, runner, progress)
//
// Prove does both in one call, for a Runner that is already there.
//
// A script lives in scripts/<area>/<name>.py. Its first lines are a header
// that says what it tries, which walls must stop it and how its run may end:
//
//	# attack: read /etc/shadow through an absolute symlink in /tmp
//	# class: 20
//	# walls: mount landlock
//
// Optional keys: needs (scratch, syscall, memory, threads), absent (modules and names
// that WebAssembly does not have: see Attempt), expect (held and
// outcome:NAME, any of which is fine), limits (wall_time=1s …), alone (yes),
// naked (see Naked). Behind it comes the program. It sees the helpers of
// scripts/_prelude.py, and canaries in `context`; it sets `result` to
// {"escaped": bool, "detail": str}. A line "# --- next run ---" splits it into
// two runs, for state that must not pass from one to the next.
//
// Limits are as on a machine of today. Before the first attempt the suite measures how
// much slower this one is, and stretches them (see Pace); an attempt whose time was up
// all the same is made once more, alone, and is "slow" if that does not help.
//
// A script is never believed when it says that it was held and the host saw
// otherwise: Canaries.Check, the size of the output and the clock have the
// last word (see Judge). And a script that cannot succeed anywhere proves
// nothing, so a test runs each one with no walls and wants to see it escape.
//
// What this does not show: that no other attempt would succeed.
package attack
