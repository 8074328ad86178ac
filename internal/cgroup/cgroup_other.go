//go:build !linux

package cgroup

// Probe reports that cgroups exist only on Linux.
func Probe() Features {
	return Features{
		Reason: "cgroups exist on Linux only",
		Remedy: "run cordon on Linux, or in a Linux virtual machine",
	}
}

// Divide does nothing.
func Divide() (undo func(), err error) { return func() {}, nil }

// Pool and Group exist so that callers compile. Open, the only way to get a Pool, always
// fails.
type (
	Pool  struct{}
	Group struct{}
)

func Open(Features) (*Pool, error)         { return nil, ErrUnsupported }
func Sweep(string) int                     { return 0 }
func (*Pool) Path() string                 { return "" }
func (*Pool) Lease(Limits) (*Group, error) { return nil, ErrUnsupported }
func (*Pool) Close() error                 { return ErrUnsupported }
func (*Group) Path() string                { return "" }
func (*Group) Add(int) error               { return ErrUnsupported }
func (*Group) SetLimit(int64) error        { return ErrUnsupported }
func (*Group) OOMKills() (int, error)      { return 0, ErrUnsupported }
func (*Group) CountsProcesses() bool       { return false }
func (*Group) ForksRefused() (int, error)  { return 0, ErrUnsupported }
func (*Group) Usage() (Usage, error)       { return Usage{}, ErrUnsupported }
func (*Group) JoinFDs() []int              { return nil }
func (*Group) Return()                     {}
func (*Group) ReturnEmpty()                {}
