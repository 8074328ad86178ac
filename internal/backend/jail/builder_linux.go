package jail

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// builder builds the sandbox of a recipe: cordon does it directly, or starts another
// program for it. Both get the same namespaces, limits, cgroups, init and watcher.
type builder interface {
	// prepare returns what must be set up before the command is executed.
	prepare(plan confine.Plan, r recipe, s streams) (prepared, error)
	// execute returns the program and the arguments that run a command.
	execute(r recipe, program string, argv []string) (string, []string)
	// reports says whether the builder writes a report to the last descriptor of
	// Command.Kept, which shows if the command was executed.
	reports() bool
	// terminal opens streams with a terminal, on the host or inside the sandbox.
	terminal() (streams, error)
	close()
}

// prepared is how one sandbox is built.
type prepared struct {
	plan confine.Plan
	// command describes the rest.
	command *confine.Command
	// private is the command's directory for temporary files; nil if it has its own /tmp.
	// The caller removes it, also after an error.
	private *privateDirectory
	// nested is a sandbox that is built inside; nil means none.
	nested *nested
}

// closeKept closes what the sandbox has inherited by now.
func (p prepared) closeKept() {
	if p.command == nil {
		return
	}
	for _, fd := range p.command.Kept {
		unix.Close(fd)
	}
	p.command.Kept = nil
}

// root lists all mounts that a command sees.
func root(common []confine.Mount, r recipe) []confine.Mount {
	return confine.Arrange(slices.Concat(common, r.mounts()))
}

// native builds the sandbox with system calls only.
type native struct{ filter []byte }

func (n *native) prepare(plan confine.Plan, r recipe, _ streams) (prepared, error) {
	plan.Root = root(plan.Root, r)
	return prepared{plan: plan, command: &confine.Command{
		Dir: r.dir(confine.Scratch), Scratch: confine.Scratch, Landlock: r.landlock(plan.Landlock, plan.Root), Filter: n.filter,
	}}, nil
}

func (*native) execute(_ recipe, program string, argv []string) (string, []string) {
	return program, argv
}

// reports is false: the init reports whether the command was executed.
func (*native) reports() bool { return false }

// terminal makes the terminal inside the sandbox: only there it has a name in /dev/pts.
func (*native) terminal() (streams, error) { return awaitTerminal() }

func (*native) close() {}
