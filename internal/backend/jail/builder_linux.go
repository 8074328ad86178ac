package jail

import (
	"slices"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// builder is what makes a place of a recipe: cordon itself, or another program
// that it starts. Around both are the same namespaces, limits and groups, the same
// init, and the same watch.
type builder interface {
	// place says what has to stand before the command is executed. The caller
	// closes what the command is to keep.
	place(plan confine.Plan, r recipe) (confine.Plan, *confine.Command, error)
	// execute says what is executed for a command.
	execute(r recipe, program string, argv []string) (string, []string)
	// reports says that the builder tells, on the last descriptor that a command
	// keeps, whether it has come as far as to execute it.
	reports() bool
	// terminal opens streams with a terminal, ours or the place's.
	terminal() (streams, error)
	close()
}

// root is all that a command sees.
func root(common []confine.Mount, r recipe) []confine.Mount {
	return confine.Arrange(slices.Concat(common, r.mounts()))
}

// native builds with the kernel's calls alone.
type native struct{ filter []byte }

func (n *native) place(plan confine.Plan, r recipe) (confine.Plan, *confine.Command, error) {
	plan.Root = root(plan.Root, r)
	return plan, &confine.Command{
		Dir: r.dir(), Scratch: confine.Scratch, Landlock: r.landlock(plan.Landlock, plan.Root), Filter: n.filter,
	}, nil
}

func (*native) execute(_ recipe, program string, argv []string) (string, []string) {
	return program, argv
}

// reports: the init says it for itself.
func (*native) reports() bool { return false }

// terminal is one among the command's own: only those have names inside.
func (*native) terminal() (streams, error) { return awaitTerminal() }

func (*native) close() {}
