package portable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// naked is a launcher without walls, for tests of everything else: it starts a process in
// its own process group, and keeps the orders that it got.
type naked struct {
	mu     sync.Mutex
	orders []launch.Order
	// walls are what it claims to enforce.
	walls map[policy.Wall]policy.WallStatus
	// failing, if not nil, is returned by Start.
	failing   error
	processes []*nakedProcess
	// watched has an element if the usage of a process was asked for.
	watched chan struct{}
	// claimed, if set, is reported as the usage of every process.
	claimed atomic.Pointer[launch.Usage]
}

func newNaked() *naked {
	return &naked{watched: make(chan struct{}, 1), walls: map[policy.Wall]policy.WallStatus{
		policy.WallSeatbelt: policy.EnforcedWall("a lie, for tests"), policy.WallRlimit: policy.EnforcedWall("memory"), policy.WallEnvironment: policy.EnforcedWall(""),
	}}
}

func (n *naked) Walls(launch.Access) (map[policy.Wall]policy.WallStatus, error) { return n.walls, nil }

func (*naked) ChannelName(channel *os.File) string { return launch.ChannelName(channel) }

func (n *naked) System() launch.System {
	return launch.System{Directories: []string{"/usr", "/bin", "/lib", "/lib64"}, Path: []string{"/usr/bin", "/bin"}}
}

func (n *naked) last(t *testing.T) launch.Order {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.orders) == 0 {
		t.Fatal("nothing was started")
	}
	return n.orders[len(n.orders)-1]
}

func (n *naked) started() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.orders)
}

func (n *naked) Start(o launch.Order) (launch.Process, error) {
	n.mu.Lock()
	n.orders = append(n.orders, o)
	n.mu.Unlock()
	if n.failing != nil {
		return nil, n.failing
	}
	// Address space is the only memory limit that a shell can set for its child.
	kib := (int64(o.Limits.Memory) + int64(bareInterpreter)) >> 10
	script := fmt.Sprintf(`ulimit -v %d; exec "$@"`, max(kib, 64<<10))
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: append([]string{"sh", "-c", script, "sh", o.Program}, o.Args[1:]...), Env: o.Env, Dir: o.Dir,
		Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if o.Channel != nil {
		cmd.ExtraFiles = []*os.File{o.Channel}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &nakedProcess{cmd: cmd, naked: n, watched: n.watched, ended: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.processes = append(n.processes, p)
	return p, nil
}

// killAll kills all processes, and waits for their end.
func (n *naked) killAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.processes {
		select {
		case <-p.ended: // another process may have its id
		default:
			p.Kill()
			<-p.ended
		}
	}
}

type nakedProcess struct {
	naked   *naked
	cmd     *exec.Cmd
	watched chan struct{}
	ended   chan struct{}
}

func (p *nakedProcess) Kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// Usage adds up the processes of the group in /proc.
func (p *nakedProcess) Usage() (u launch.Usage) {
	select {
	case p.watched <- struct{}{}:
	default:
	}
	if claimed := p.naked.claimed.Load(); claimed != nil {
		return *claimed
	}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return u
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// After the name, which may contain any byte: state, parent, group, …
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if group, err := strconv.Atoi(fields[2]); err != nil || group != p.cmd.Process.Pid {
			continue
		}
		ticks := func(i int) time.Duration {
			n, _ := strconv.Atoi(fields[i])
			return time.Duration(n) * 10 * time.Millisecond
		}
		pages, _ := strconv.Atoi(fields[21])
		u.Processes++
		u.CPUTime += ticks(11) + ticks(12)
		u.Memory += policy.Bytes(pages * os.Getpagesize())
	}
	return u
}

func (p *nakedProcess) Wait() (launch.Exit, error) {
	defer close(p.ended)
	err := p.cmd.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return launch.Exit{}, err
	}
	p.Kill() // the processes that it left behind
	state := p.cmd.ProcessState
	exit := launch.Exit{Code: state.ExitCode(), Usage: launch.Usage{CPUTime: state.UserTime() + state.SystemTime()}}
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		exit.Signal = run.SignalName(int(status.Signal()))
	}
	return exit, nil
}
