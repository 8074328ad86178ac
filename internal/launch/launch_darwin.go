package launch

import (
	"bytes"
	"context"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/cordon-sandbox/cordon/internal/seatbelt"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// sandboxExec is never looked for on PATH, where it could be another.
const sandboxExec = "/usr/bin/sandbox-exec"

// probeTime is how long the first try may take.
const probeTime = 10 * time.Second

// seatbeltLauncher starts processes by sandbox-exec.
type seatbeltLauncher struct{ system darwin }

// New tries whether Seatbelt can be used: not inside of another sandbox, and not on a
// system from which Apple has taken the tool.
func New() (Launcher, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, sandboxExec, "-p", "(version 1) (allow default)", "/usr/bin/true")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return nil, run.Errorf(run.Unsupported, "Seatbelt cannot be used here: %s: %w %s; "+
			"run cordon outside of other sandboxes, or in a Linux virtual machine (deploy/lima.yaml)", sandboxExec, err, bytes.TrimSpace(said.Bytes()))
	}
	system, err := newDarwin()
	if err != nil {
		return nil, run.Errorf(run.Unsupported, "the frequency of this processor's clock is not known: %w", err)
	}
	return &seatbeltLauncher{system}, nil
}

// Walls says what stands on macOS.
func (l *seatbeltLauncher) Walls(a Access) (map[policy.Wall]string, error) {
	walls := map[policy.Wall]string{
		policy.WallSeatbelt:    "enforced (files, network, programs, services)",
		policy.WallRlimit:      "enforced (processor time, open files, sizes of files; memory and processes are watched)",
		policy.WallEnvironment: "enforced",
		policy.WallPID:         "enforced (no second process)",
	}
	if a.Programs {
		walls[policy.WallPID] = "missing: a process that leaves its group and its parent between two looks outlives the command"
	}
	if a.AnyNetwork {
		walls[policy.WallSeatbelt] = "enforced (files, programs, services; the network is open)"
	}
	return walls, nil
}

// System says where macOS keeps programs.
func (l *seatbeltLauncher) System() System {
	return System{Folders: seatbelt.SystemFolders(), Path: seatbelt.Path()}
}

// Start starts a process. The profile goes by an argument: a file would have to be kept
// from the guest, and be removed.
func (l *seatbeltLauncher) Start(o Order) (Process, error) {
	program, err := filepath.EvalSymlinks(o.Program)
	if err != nil {
		return nil, run.Errorf(run.NotFound, "%s cannot be executed: %w", o.Program, err)
	}
	profile, err := seatbelt.Compile(seatbelt.Policy{
		Program: program, Execute: execute(o.Access, program), Read: o.Access.Read, Write: o.Access.Write,
		Programs: o.Access.Programs, Proxy: o.Access.Proxy, AnyNetwork: o.Access.AnyNetwork,
	})
	if err != nil {
		return nil, err
	}
	return startGroup(o, l.system, append([]string{sandboxExec, "-p", profile, o.Program}, o.Args[1:]...)...)
}

// execute lists what an interpreter becomes: in a framework, bin/python3 only finds the
// program that it stands for, and executes it.
func execute(a Access, program string) []string {
	if a.Programs {
		return nil
	}
	return []string{path.Join(path.Dir(path.Dir(program)), "Resources/Python.app/Contents/MacOS/Python")}
}
