package command

const (
	// pathMost is the kernel's PATH_MAX: a text as long as that names no file.
	pathMost = 4096
	// effortMost bounds one Check. A step of a path is one, a system call at
	// least one; a command line of all the bytes that execve takes, full of
	// ordinary paths, needs about half of it. Without a bound a few bytes would
	// cost minutes: links that lead to links, lists in lists.
	effortMost = 1 << 19
	// lookupEffort is what a name costs in each directory, beside its steps: most
	// are not there, and each says why not.
	lookupEffort = 3
	// userEffort is what the user database costs: a file is read, or a server
	// asked.
	userEffort = 200
)

// effort is the work that one Check has done so far. When it is spent, the rest of the
// command is not judged: the walls decide about it.
type effort struct {
	spent int
}

// spend reports whether there is enough left for more of it, of which the price
// grows with the length of the text.
func (e *effort) spend(units int, text string) bool {
	if e.spent > effortMost {
		return false
	}
	e.spent += units + len(text)/128
	return e.spent <= effortMost
}

func (e *effort) over() bool { return e.spent > effortMost }
