package launch

import (
	"bytes"
	"context"
	"os"
	"os/exec"
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
	if os.Getuid() == 0 {
		return nil, run.Errorf(run.Unsupported, "cordon does not run guests as root on macOS: Seatbelt would be the only wall; run it as an ordinary user")
	}
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

// Walls says what stands.
func (l *seatbeltLauncher) Walls(a Access) (map[policy.Wall]string, error) {
	return seatbeltWalls(a), nil
}

// System says where macOS keeps programs.
func (l *seatbeltLauncher) System() System {
	return System{Directories: seatbelt.SystemDirectories(), Path: seatbelt.Path()}
}

// Start starts a process.
func (l *seatbeltLauncher) Start(o Order) (Process, error) {
	command, err := seatbeltCommand(sandboxExec, o)
	if err != nil {
		return nil, err
	}
	return startGroup(o, l.system, command...)
}
