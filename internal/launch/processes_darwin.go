package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// darwin lists the processes of this user.
type darwin struct {
	frequency uint64 // of the clock that counts CPU time
}

func newDarwin() (d darwin, err error) {
	d.frequency, err = unix.SysctlUint64("hw.tbfrequency")
	return d, err
}

func (d darwin) list() ([]member, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, err
	}
	members := make([]member, len(all))
	for i := range all {
		p := &all[i]
		members[i] = member{
			PID: int(p.Proc.P_pid), Parent: int(p.Eproc.Ppid), Group: int(p.Eproc.Pgid), Started: p.Proc.P_starttime.Nano(),
		}
	}
	return members, nil
}

func (d darwin) used(pid int) (used, bool) {
	var b [rusageSize]byte
	if !processRusage(pid, b[:]) {
		return used{}, false
	}
	return readRusage(b[:], d.frequency)
}
