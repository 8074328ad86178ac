//go:build unix

package launch

// Group is for tests of what is the same on every Unix, without walls.
type Group = group

// Processes, Member and Used are what a test's system gives.
type (
	Processes interface {
		List() ([]Member, error)
		UsedBy(pid int) (Used, bool)
	}
	Member = member
	Used   = used
)

// PID is that of the first process.
func (g *group) PID() int { return g.cmd.Process.Pid }

type system struct{ Processes }

func (s system) list() ([]member, error)   { return s.List() }
func (s system) used(pid int) (used, bool) { return s.UsedBy(pid) }

// Wrapper is what the shell does.
var Wrapper = wrapper

// SeatbeltCommand and SeatbeltWalls are macOS's.
var (
	SeatbeltCommand = seatbeltCommand
	SeatbeltWalls   = seatbeltWalls
)

// StartGroup starts a program by the wrapper.
func StartGroup(o Order, s Processes, program ...string) (*Group, error) {
	return startGroup(o, system{s}, program...)
}
