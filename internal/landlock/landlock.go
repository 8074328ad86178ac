// Package landlock decides what a Landlock domain of a guest looks like: a
// pure function of the kernel's ABI and the paths that stay open. The worker
// makes the three system calls itself, with the numbers from here.
//
// Landlock is never the only wall. It does not see stat, chmod or utime, and
// its network rules know TCP alone.
package landlock

// Access is a set of file system rights, as in <linux/landlock.h>.
type Access uint64

// The rights, by the ABI that brought them.
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

	// Read is what a guest may do with the interpreter's files.
	Read = ReadFile | ReadDir
	// Sink is what it may do with /dev/null and its like.
	Sink = ReadFile | WriteFile | Truncate
	// Scratch is what it may do in its private /tmp: all but devices.
	Scratch = Read | WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate

	// onFiles are the rights that make sense on something that is no directory;
	// the kernel refuses the others there.
	onFiles = Execute | WriteFile | ReadFile | Truncate | IoctlDev
)

const (
	bindTCP, connectTCP         = 1, 2 // ABI 4
	scopeAbstract, scopeSignals = 1, 2 // ABI 6
)

// Rule opens one path.
type Rule struct {
	Path   string
	Access Access
	// File says that the path is no directory.
	File bool
}

// Ruleset is what the worker hands to the kernel.
type Ruleset struct {
	// Handled is struct landlock_ruleset_attr, as long as the ABI knows it:
	// everything in it is denied unless a rule opens it.
	Handled []uint64
	Rules   []Rule
}

// Compile fits rules to an ABI: rights that the kernel does not know are left
// out of the rules, since it would refuse them.
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

// WithNetwork leaves TCP out: for a guest whose network is bounded elsewhere.
func (s Ruleset) WithNetwork() Ruleset {
	if len(s.Handled) > 1 {
		s.Handled[1] = 0
	}
	return s
}

// Scope is a ruleset that keeps a guest from signaling processes and connecting to
// abstract sockets outside of its domain, and forbids nothing else: not even mounts,
// which every domain with rules about files does. Only an ABI with Scoped has it.
func Scope() Ruleset { return Ruleset{Handled: []uint64{0, 0, scopeAbstract | scopeSignals}} }

// Scoped says whether an ABI knows scopes.
func Scoped(abi int) bool { return abi >= 6 }

// Known gives the file system rights of an ABI.
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

// Gap is an act that an older Landlock does not cover.
type Gap string

// The gaps, in the order in which newer ABIs closed them.
const (
	GapTruncate Gap = "truncating files"
	GapTCP      Gap = "TCP"
	GapDevices  Gap = "device ioctls"
	GapSignals  Gap = "signals"
	GapAbstract Gap = "abstract sockets"
)

// LastGap is the kernel whose Landlock has none of them.
const LastGap = "Linux 6.12"

// Gaps lists all that an ABI lacks. What no ABI covers, such as chmod, is not among it.
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
