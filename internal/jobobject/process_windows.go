package jobobject

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// Spec describes a program to start.
type Spec struct {
	Program string   // an absolute path
	Args    []string // with the program's name first
	Env     []string // the whole environment
	Dir     string
	// Stdin, Stdout and Stderr are its streams. Extra are further handles, with the same
	// values as here. It inherits nothing else.
	Stdin, Stdout, Stderr *os.File
	Extra                 []*os.File

	Limits Limits
	Access Access
	// Container and LowIntegrity are required walls. A program without them is killed
	// before its first instruction.
	Container, LowIntegrity bool
}

// Process is a program and all processes that it starts.
type Process struct {
	first     windows.Handle
	job       *job
	container *container
	notices   chan Notices

	mu    sync.Mutex // prevents the use of the job after it is closed
	ended *Usage     // the usage when it was closed
}

// Start starts a program. All walls are in place before it runs.
func Start(s Spec) (*Process, error) {
	if err := checkProgram(s.Program); err != nil {
		return nil, err
	}
	p := &Process{notices: make(chan Notices, 1)}
	if err := p.start(s); err != nil {
		return nil, errors.Join(err, p.abandon())
	}
	go func() { p.notices <- p.job.listen() }()
	return p, nil
}

// start fills p step by step. If it fails, p has what must be released.
func (p *Process) start(s Spec) (err error) {
	// Rights to files come first: they take the longest, and can fail for reasons that the
	// user can fix.
	switch {
	case s.Container:
		if p.container, err = newContainer(s.Access); err != nil {
			return err
		}
	case s.LowIntegrity:
		for _, path := range s.Access.Write {
			if err := labelLow(path); err != nil {
				return err
			}
		}
	}
	// The job is created first, so that the process can start in it.
	if p.job, err = newJob(s.Limits); err != nil {
		return err
	}
	token, err := restrictedToken()
	if err != nil {
		return err
	}
	defer func() { _ = token.Close() }()
	created, err := create(s, token, p.job, p.container)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(created.Thread) }()
	p.first = created.Process
	// On systems without a list of jobs it is not in ours yet, but it is suspended.
	inside, err := p.job.contains(p.first)
	if err == nil && !inside {
		err = windows.AssignProcessToJobObject(p.job.handle, p.first)
	}
	if err != nil {
		return &SetupError{"AssignProcessToJobObject", err}
	}
	if err := inspect(p.first, s); err != nil {
		return err
	}
	if _, err := windows.ResumeThread(created.Thread); err != nil {
		return &SetupError{"ResumeThread", err}
	}
	return nil
}

// inspect checks the walls that the process really has.
func inspect(process windows.Handle, s Spec) error {
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return &SetupError{"looking at the process", err}
	}
	defer func() { _ = token.Close() }()
	if s.LowIntegrity {
		if err := checkIntegrity(token); err != nil {
			return &SetupError{"looking at its integrity", err}
		}
	}
	if !s.Container {
		return nil
	}
	inside, err := inContainer(token)
	if err == nil && !inside {
		err = errors.New("it is outside of its AppContainer")
	}
	if err != nil {
		return &SetupError{"looking at its container", err}
	}
	return nil
}

// create creates the process, suspended. Its handles are inheritable only during this call, in
// which Go starts no other process. Inheritable handles of other code are not inherited, because
// only those on the list are.
func create(s Spec, token windows.Token, j *job, c *container) (created windows.ProcessInformation, err error) {
	environment, err := environmentBlock(s.Env)
	if err != nil {
		return created, &SetupError{"the environment", err}
	}
	program, err := windows.UTF16PtrFromString(s.Program)
	if err != nil {
		return created, &SetupError{"the program's name", err}
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(s.Args))
	if err != nil {
		return created, &SetupError{"the command line", err}
	}
	dir, err := windows.UTF16PtrFromString(s.Dir)
	if err != nil {
		return created, &SetupError{"the directory", err}
	}
	startup, handles := startupInfo(s)
	attributes, err := attributes(handles, j, c)
	if err != nil {
		return created, err
	}
	defer attributes.Delete()
	startup.ProcThreadAttributeList = attributes.List()

	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	for _, handle := range handles {
		if err := windows.SetHandleInformation(handle, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return created, &SetupError{"a handle to be inherited", err}
		}
		defer func() { _ = windows.SetHandleInformation(handle, windows.HANDLE_FLAG_INHERIT, 0) }()
	}
	const flags = windows.CREATE_SUSPENDED | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT
	err = windows.CreateProcessAsUser(token, program, line, nil, nil, true, flags|consoleFlag(s.Limits), &environment[0], dir, &startup.StartupInfo, &created)
	if err != nil {
		return created, &StartError{s.Program, err}
	}
	return created, nil
}

// consoleFlag gives a program a console without a window, which its children share. A console
// has its own process, so a program that must be alone gets none.
func consoleFlag(l Limits) uint32 {
	if l.Processes == 1 {
		return windows.DETACHED_PROCESS
	}
	return windows.CREATE_NO_WINDOW
}

// abandon releases the resources of a failed start.
func (p *Process) abandon() error {
	if p.first != 0 {
		_ = windows.TerminateProcess(p.first, killed) // it may not be in the job
		_ = windows.CloseHandle(p.first)
	}
	if p.job != nil {
		p.job.close()
	}
	if p.container != nil {
		return p.container.close()
	}
	return nil
}

// Kill ends all processes. It may be called at any time.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		_ = p.job.kill() // it fails only without a right that we have
	}
}

// Usage returns what all processes have used so far.
func (p *Process) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return *p.ended
	}
	return p.usage()
}

func (p *Process) usage() Usage {
	usage, err := p.job.usage()
	if err != nil {
		return Usage{}
	}
	// Wine counts the processes of a job, but neither their memory nor their time. (It
	// returns our own time as that of another process.)
	if usage.Memory == 0 {
		usage.Memory = peakMemory(p.first)
	}
	return usage
}

// Wait returns when the first process and all remaining ones have ended. It must be called once,
// and releases the resources.
func (p *Process) Wait() (Ending, error) {
	event, err := windows.WaitForSingleObject(p.first, windows.INFINITE)
	if err == nil && event != windows.WAIT_OBJECT_0 {
		err = errors.New("the wait ended without the process")
	}
	var e Ending
	if err == nil {
		err = windows.GetExitCodeProcess(p.first, &e.ExitCode)
	}
	p.Kill()
	p.waitEmpty()
	if p.job.endListening() == nil {
		e.Notices = <-p.notices
	}
	e.Usage = p.bury()
	if p.container != nil {
		err = errors.Join(err, p.container.close())
	}
	return e, err
}

// waitEmpty waits until the last process has ended, because a kill does not wait. Their files
// cannot be removed before.
func (p *Process) waitEmpty() {
	const patience, step = 5 * time.Second, 2 * time.Millisecond
	for waited := time.Duration(0); waited < patience; waited += step {
		accounting, err := p.job.accounting()
		if err != nil || accounting.ActiveProcesses == 0 {
			return
		}
		<-time.After(step)
	}
}

// bury closes the handles. Afterward, the process ids may be reused.
func (p *Process) bury() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	usage := p.usage()
	p.ended = &usage
	_ = windows.CloseHandle(p.first)
	p.job.close()
	return usage
}
