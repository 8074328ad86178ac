package jobobject

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// killed is the exit code of processes that we kill. A guest gains nothing by using it, because
// we know whether we killed it.
const killed = 0xC07D07D0

// uiRestrictions are all restrictions that exist: no handles of other programs' windows, no
// clipboard, no global atoms, no other desktop, no system settings, no logging off.
const uiRestrictions = windows.JOB_OBJECT_UILIMIT_HANDLES |
	windows.JOB_OBJECT_UILIMIT_READCLIPBOARD | windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD |
	windows.JOB_OBJECT_UILIMIT_GLOBALATOMS | windows.JOB_OBJECT_UILIMIT_DESKTOP |
	windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS | windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS |
	windows.JOB_OBJECT_UILIMIT_EXITWINDOWS

// job is a Job Object with the port for the kernel's messages. Its processes are killed with its
// last handle, which has no name and is not inherited.
type job struct {
	handle windows.Handle
	port   windows.Handle
}

func newJob(l Limits) (*job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, &SetupError{"CreateJobObject", err}
	}
	j := &job{handle: handle}
	if err := j.setUp(l); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

func (j *job) setUp(l Limits) error {
	if err := j.setLimits(limitInformation(l)); err != nil {
		return &SetupError{"the job's limits", err}
	}
	if err := j.setUIRestrictions(uiRestrictions); err != nil {
		return &SetupError{"the job's restrictions of windows", err}
	}
	port, err := windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1)
	if err != nil {
		return &SetupError{"CreateIoCompletionPort", err}
	}
	j.port = port
	if err := j.setPort(port); err != nil {
		return &SetupError{"the job's port", err}
	}
	return nil
}

// limitInformation returns Windows' form of the limits. Without the flag for breaking away, no
// process can leave the job. A fault ends the process at once, without a dialog window.
func limitInformation(l Limits) *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION {
	return &windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
				windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION |
				windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_JOB_MEMORY |
				windows.JOB_OBJECT_LIMIT_JOB_TIME | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS,
			PerJobUserTimeLimit: l.CPU.Nanoseconds() / 100,
			ActiveProcessLimit:  l.Processes,
		},
		ProcessMemoryLimit: uintptr(l.Memory),
		JobMemoryLimit:     uintptr(l.Memory),
	}
}

// kill ends all processes of the job.
func (j *job) kill() error { return windows.TerminateJobObject(j.handle, killed) }

// usage returns what all processes of the job have used, including those that have ended.
func (j *job) usage() (Usage, error) {
	accounting, err := j.accounting()
	if err != nil {
		return Usage{}, err
	}
	limits, err := j.limits()
	if err != nil {
		return Usage{}, err
	}
	const unit = 100 * time.Nanosecond
	return Usage{
		CPU:       time.Duration(accounting.TotalUserTime+accounting.TotalKernelTime) * unit,
		Memory:    uint64(limits.PeakJobMemoryUsed),
		Processes: int(accounting.ActiveProcesses),
	}, nil
}

// close closes the handles, and with the job's handle kills its remaining processes.
func (j *job) close() {
	_ = windows.CloseHandle(j.handle) // it is ours, and open
	if j.port != 0 {
		_ = windows.CloseHandle(j.port)
	}
}

// LimitsHold returns nil if this system enforces the limits of a job, or the reason. Limits that
// cannot be read back are not enforced.
func LimitsHold() error {
	want := Limits{Memory: 64 << 20, CPU: time.Second, Processes: 2}
	j, err := newJob(want)
	if err != nil {
		return err
	}
	defer j.close()
	got, err := j.limits()
	if err != nil {
		return err
	}
	expected := limitInformation(want)
	if got.BasicLimitInformation.LimitFlags != expected.BasicLimitInformation.LimitFlags || got.JobMemoryLimit != expected.JobMemoryLimit {
		return errors.New("this system accepts the limits of jobs but does not enforce them (as Wine)")
	}
	return nil
}
