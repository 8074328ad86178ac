package command

const (
	// maxPath is the kernel's PATH_MAX: a text of this length or more names no file.
	maxPath = 4096
	// maxWork bounds the work of one Check. A component of a path costs one unit,
	// a system call at least one; a command line of the most bytes that execve
	// accepts, full of ordinary paths, needs about half of the budget. Without a
	// bound, a few bytes could cost minutes: links that lead to links, lists in lists.
	maxWork = 1 << 19
	// lookupCost is the cost of a name in each directory, beside the components of
	// its path: most directories do not have it, and each miss makes an error.
	lookupCost = 3
	// userCost is the cost of a lookup in the user database, which reads a file or
	// asks a server.
	userCost = 200
)

// budget counts the work of one Check. When the budget is exhausted, the rest of the
// command is not checked; the walls still hold.
type budget struct {
	spent int
}

// spend takes units from the budget, and more for a longer text. It reports whether the
// budget was large enough.
func (b *budget) spend(units int, text string) bool {
	if b.spent > maxWork {
		return false
	}
	b.spent += units + len(text)/128
	return b.spent <= maxWork
}

func (b *budget) exhausted() bool { return b.spent > maxWork }
