//go:build unix

package launch

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// processes lists the system's processes and their resource use.
type processes interface {
	list() ([]member, error)
	used(pid int) (used, bool)
}

// group is a process that leads a process group, and all processes that it starts.
type group struct {
	cmd      *exec.Cmd
	lifeline *os.File // closed when we die, at the latest
	system   processes

	mu    sync.Mutex
	tree  *tree
	ended bool
}

// startGroup starts a program with the wrapper.
func startGroup(o Order, system processes, program ...string) (*group, error) {
	if err := keepDescriptors(); err != nil {
		return nil, err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, run.Errorf(run.Internal, "pipes: %w", err)
	}
	defer theirs.Close()
	args := wrapped(o.Limits, program...)
	cmd := &exec.Cmd{
		Path: args[0], Args: args, Env: o.Env, Dir: o.Dir, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr,
		ExtraFiles:  []*os.File{o.Channel, theirs}, // 3 and 4; nil is closed
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, run.Errorf(run.Unsupported, "the sandbox cannot be set up: %w", err)
	}
	return &group{cmd: cmd, lifeline: ours, system: system, tree: newTree(cmd.Process.Pid)}, nil
}

// rounds bounds how often Kill lists the processes, for a tree that forks faster than we
// kill.
const rounds = 100

// Kill ends all processes: the group at once, then those that have left it.
func (g *group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killAll()
}

func (g *group) killAll() {
	if g.ended {
		return // the number of the group may have been reused
	}
	for range rounds {
		alive := g.sample()
		_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) // usually none is left in the second round
		left := 0
		for _, m := range alive {
			if m.Group == g.cmd.Process.Pid {
				continue // already killed
			}
			left++
			_ = syscall.Kill(m.PID, syscall.SIGKILL)
		}
		if left == 0 {
			return
		}
	}
}

func (g *group) sample() []member {
	all, err := g.system.list()
	if err != nil {
		return nil // Kill still kills the group by its number
	}
	return g.tree.update(all, g.system.used)
}

// Usage returns what all processes have used.
func (g *group) Usage() Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.sample()
	}
	return g.tree.usage()
}

// Wait waits for the first process and kills the others. The wrapper's watcher is in the
// group: while it lives, the number of the group is not reused.
func (g *group) Wait() (Exit, error) {
	err := g.cmd.Wait()
	g.mu.Lock()
	g.killAll()
	g.ended = true
	usage := g.tree.usage()
	g.mu.Unlock()
	g.lifeline.Close()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return Exit{}, err
	}
	return exitOf(g.cmd.ProcessState, usage), nil
}

func exitOf(state *os.ProcessState, usage Usage) Exit {
	exit := Exit{Code: state.ExitCode(), Usage: usage}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code, exit.Signal = -1, run.SignalName(int(status.Signal()))
	}
	exit.Usage.CPUTime = max(usage.CPUTime, state.UserTime()+state.SystemTime())
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		exit.Usage.Memory = max(usage.Memory, policy.Bytes(r.Maxrss)*maxRSSUnit)
	}
	return exit
}
