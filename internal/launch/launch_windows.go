package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/jobobject"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// windowsLauncher knows which walls this Windows has. A call that succeeds without effect,
// as many do on Wine, does not count.
type windowsLauncher struct {
	noLimits, noToken, noContainer error
}

// New probes the host, and removes what a killed cordon left there.
func New() (Launcher, error) {
	sweep()
	return &windowsLauncher{
		noLimits: jobobject.LimitsHold(), noToken: jobobject.LowIntegrity(), noContainer: jobobject.AppContainers(),
	}, nil
}

// sweep runs once. What it cannot remove stays for the next cordon: an empty container
// grants nothing.
var sweep = sync.OnceFunc(func() { _ = jobobject.Sweep() })

// Walls reports the walls.
func (w *windowsLauncher) Walls(a Access) (map[policy.Wall]policy.WallStatus, error) {
	if a.Proxy != 0 {
		return nil, run.Errorf(run.Unsupported, "no host can be allowed by name on Windows: an AppContainer does not reach the proxy on this host. "+
			"Leave out allow_net, or use a Linux virtual machine (WSL 2 is one)")
	}
	return map[policy.Wall]policy.WallStatus{
		policy.WallJobObject:    policy.EnforcedWall("all processes end with the first, and with cordon"),
		policy.WallRlimit:       words(w.noLimits, "memory, CPU time and processes, by the job"),
		policy.WallToken:        words(w.noToken, "no privileges, low integrity"),
		policy.WallAppContainer: words(w.noContainer, containerWords(a)),
		policy.WallEnvironment:  policy.EnforcedWall("handles by list"),
		policy.WallSeccomp:      policy.MissingWall("Windows has no filter for system calls"),
	}, nil
}

func containerWords(a Access) string {
	if a.AnyNetwork {
		return "files; the network is open, but for this host"
	}
	return "files, and no network"
}

func words(missing error, enforced string) policy.WallStatus {
	if missing != nil {
		return policy.MissingWall(missing.Error())
	}
	return policy.EnforcedWall(enforced)
}

// System returns what Windows lets every AppContainer read.
func (*windowsLauncher) System() System {
	root := os.Getenv("SystemRoot")
	s := System{
		Directories: []string{root},
		Path:        []string{filepath.Join(root, "System32"), root, filepath.Join(root, `System32\WindowsPowerShell\v1.0`)},
	}
	var installed []string
	for _, name := range []string{"ProgramFiles", "ProgramFiles(x86)", "ProgramW6432"} {
		if directory := os.Getenv(name); directory != "" {
			installed = append(installed, directory)
		}
	}
	s.Directories = append(s.Directories, installed...)
	// On Windows each program has its own directory, so use the entries of the user's PATH
	// that belong to programs installed for all users.
	for _, directory := range filepath.SplitList(os.Getenv("PATH")) {
		for _, all := range installed {
			if strings.HasPrefix(strings.ToLower(filepath.Clean(directory)), strings.ToLower(all)+`\`) {
				s.Path = append(s.Path, directory)
				break
			}
		}
	}
	return s
}

// bareProcess is the committed memory of a program that has just started.
const bareProcess = 32 * policy.MiB

// ChannelName implements [Launcher].
func (*windowsLauncher) ChannelName(channel *os.File) string { return ChannelName(channel) }

// Start starts a process with the walls that this host has.
func (w *windowsLauncher) Start(o Order) (Process, error) {
	spec := jobobject.Spec{
		Program: o.Program, Args: o.Args, Env: o.Env, Dir: o.Dir, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr,
		Limits: jobobject.Limits{Memory: uint64(o.Limits.Memory + bareProcess), CPU: o.Limits.CPUTime, Processes: 1},
		Access: jobobject.Access{Read: o.Access.Read, Write: o.Access.Write, Network: o.Access.AnyNetwork},
		// A missing wall is only preferred by the policy; a required one was an error
		// earlier.
		Container: w.noContainer == nil, LowIntegrity: w.noToken == nil,
	}
	if o.Access.Programs {
		spec.Limits.Processes = uint32(max(o.Limits.Processes, 2)) // the console has a process too
	}
	if o.Channel != nil {
		spec.Extra = []*os.File{o.Channel}
	}
	process, err := jobobject.Start(spec)
	var setup *jobobject.SetupError
	if errors.As(err, &setup) {
		return nil, run.Wrap(run.Unsupported, err)
	} else if err != nil {
		return nil, err
	}
	return &windowsProcess{process, spec.Limits}, nil
}

type windowsProcess struct {
	*jobobject.Process
	limits jobobject.Limits
}

// Usage returns what its processes have used so far.
func (p *windowsProcess) Usage() Usage { return usageOf(p.Process.Usage()) }

func usageOf(u jobobject.Usage) Usage {
	return Usage{CPUTime: u.CPU, Memory: policy.Bytes(u.Memory), Processes: u.Processes}
}

// Wait returns how the first process ended. If several limits were reached, memory takes
// precedence: a process without memory fails in many ways, for example to start another.
func (p *windowsProcess) Wait() (Exit, error) {
	ending, err := p.Process.Wait()
	if err != nil {
		return Exit{}, err
	}
	exit := Exit{Code: int(ending.ExitCode), Signal: jobobject.Crash(ending.ExitCode), Usage: usageOf(ending.Usage)}
	if exit.Signal != "" {
		exit.Code = -1
	}
	switch {
	case ending.Notices.Memory:
		exit.Limit = LimitMemory
	case ending.OutOfTime(p.limits):
		exit.Limit = LimitCPUTime
	case ending.Notices.Processes:
		exit.Limit = LimitProcesses
	}
	return exit, nil
}
