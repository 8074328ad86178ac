// Package landlock computes the Landlock ruleset of a guest from the kernel's ABI and the
// granted paths. The worker makes the three system calls itself, with the numbers from
// here.
//
// Landlock is never the only wall. It does not check stat, chmod or utime, and its network
// rules are only for TCP.
package landlock

// Access is a set of file system rights, as in <linux/landlock.h>.
type Access uint64

// The rights, by the ABI that introduced them.
const (
	Execute Access = 1 << iota
	WriteFile
	ReadFile
	ReadDir
	RemoveDir
	RemoveFile
	MakeChar
	MakeDir
	MakeReg
	MakeSock
	MakeFifo
	MakeBlock
	MakeSym
	Refer    // ABI 2
	Truncate // ABI 3
	IoctlDev // ABI 5
)

const (
	abi1 = Refer - 1

	// Read has the rights on the interpreter's files.
	Read = ReadFile | ReadDir
	// Sink has the rights on devices such as /dev/null.
	Sink = ReadFile | WriteFile | Truncate
	// Scratch has the rights in the private /tmp: all except making devices.
	Scratch = Read | WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate

	// onFiles has the rights that the kernel accepts on files that are not
	// directories.
	onFiles = Execute | WriteFile | ReadFile | Truncate | IoctlDev
)

const (
	bindTCP, connectTCP         = 1, 2 // ABI 4
	scopeAbstract, scopeSignals = 1, 2 // ABI 6
)

// Rule grants access to one path.
type Rule struct {
	Path   string
	Access Access
	// File is true if the path is not a directory.
	File bool
	// Exact means that no part of the path may be a symlink.
	Exact bool
}

// Ruleset has the arguments of the worker's system calls.
type Ruleset struct {
	// Handled is struct landlock_ruleset_attr, in the ABI's size. The kernel denies
	// every right in it unless a rule grants it.
	Handled []uint64
	Rules   []Rule
}

// Compile adapts rules to an ABI. It drops rights that the kernel does not know and would
// refuse.
func Compile(abi int, rules []Rule) Ruleset {
	handled := Known(abi)
	set := Ruleset{Handled: []uint64{uint64(handled)}}
	if abi >= 4 {
		set.Handled = append(set.Handled, bindTCP|connectTCP)
	}
	if Scoped(abi) {
		set.Handled = append(set.Handled, scopeAbstract|scopeSignals)
	}
	for _, r := range rules {
		r.Access &= handled
		if r.File {
			r.Access &= onFiles
		}
		set.Rules = append(set.Rules, r)
	}
	return set
}

// WithNetwork returns the ruleset without TCP, for a guest whose network another wall
// restricts.
func (s Ruleset) WithNetwork() Ruleset {
	if len(s.Handled) > 1 {
		s.Handled[1] = 0
	}
	return s
}

// Scope returns a ruleset that only stops a guest from signaling processes and connecting
// to abstract sockets outside its domain. It does not forbid mounts, as every ruleset with
// rights on files does. It needs an ABI for which Scoped is true.
func Scope() Ruleset { return Ruleset{Handled: []uint64{0, 0, scopeAbstract | scopeSignals}} }

// Scoped reports whether an ABI has scopes.
func Scoped(abi int) bool { return abi >= 6 }

// Known returns the file system rights of an ABI.
func Known(abi int) Access {
	known := abi1
	if abi >= 2 {
		known |= Refer
	}
	if abi >= 3 {
		known |= Truncate
	}
	if abi >= 5 {
		known |= IoctlDev
	}
	return known
}

// Gap is an operation that an older Landlock does not check.
type Gap string

// The gaps, in the order in which newer ABIs closed them.
const (
	GapTruncate Gap = "truncating files"
	GapTCP      Gap = "TCP"
	GapDevices  Gap = "device ioctls"
	GapSignals  Gap = "signals"
	GapAbstract Gap = "abstract sockets"
)

// LastGap is the first kernel whose Landlock has no gaps.
const LastGap = "Linux 6.12"

// Gaps lists the gaps of an ABI, without operations that no ABI checks, such as chmod.
func Gaps(abi int) []Gap {
	var gaps []Gap
	for _, g := range []struct {
		since int
		gap   Gap
	}{{3, GapTruncate}, {4, GapTCP}, {5, GapDevices}, {6, GapSignals}, {6, GapAbstract}} {
		if abi < g.since {
			gaps = append(gaps, g.gap)
		}
	}
	return gaps
}
