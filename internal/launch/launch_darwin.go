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

// sandboxExec is an absolute path, because another program of this name could be on PATH.
const sandboxExec = "/usr/bin/sandbox-exec"

// probeTime bounds the first try.
const probeTime = 10 * time.Second

// seatbeltLauncher starts processes with sandbox-exec.
type seatbeltLauncher struct{ system darwin }

// New tries whether Seatbelt works: it does not inside another sandbox, or if Apple removes
// the tool.
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
			"run cordon outside other sandboxes, or in a Linux virtual machine (deploy/lima.yaml)", sandboxExec, err, bytes.TrimSpace(said.Bytes()))
	}
	system, err := newDarwin()
	if err != nil {
		return nil, run.Errorf(run.Unsupported, "the frequency of this processor's clock is not known: %w", err)
	}
	return &seatbeltLauncher{system}, nil
}

// Walls reports the walls.
func (l *seatbeltLauncher) Walls(a Access) (map[policy.Wall]policy.WallStatus, error) {
	return seatbeltWalls(a), nil
}

// System returns the directories of macOS's programs.
func (l *seatbeltLauncher) System() System {
	return System{Directories: seatbelt.SystemDirectories(), Path: seatbelt.Path()}
}

// ChannelName implements [Launcher].
func (*seatbeltLauncher) ChannelName(channel *os.File) string { return ChannelName(channel) }

// Start starts a process.
func (l *seatbeltLauncher) Start(o Order) (Process, error) {
	command, err := seatbeltCommand(sandboxExec, o)
	if err != nil {
		return nil, err
	}
	return startGroup(o, l.system, command...)
}
