//go:build unix

package launch

// Group is exported for tests of the code for every Unix, without walls.
type Group = group

// Processes, Member and Used let a test list the processes of its system.
type (
	Processes interface {
		List() ([]Member, error)
		UsedBy(pid int) (Used, bool)
	}
	Member = member
	Used   = used
)

// PID returns the pid of the first process.
func (g *group) PID() int { return g.cmd.Process.Pid }

type system struct{ Processes }

func (s system) list() ([]member, error)   { return s.List() }
func (s system) used(pid int) (used, bool) { return s.UsedBy(pid) }

// Wrapper is the shell script.
var Wrapper = wrapper

// SeatbeltCommand and SeatbeltWalls are exported from the code for macOS.
var (
	SeatbeltCommand = seatbeltCommand
	SeatbeltWalls   = seatbeltWalls
)

// StartGroup starts a program with the wrapper.
func StartGroup(o Order, s Processes, program ...string) (*Group, error) {
	return startGroup(o, system{s}, program...)
}
