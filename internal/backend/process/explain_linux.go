package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/run"
)

// explain adds the probable cause and a remedy to the error of a failed start.
func (b *Backend) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	message := fmt.Sprintf("the sandbox cannot be set up: %v", err)
	var setup *confine.SetupError
	if errors.As(err, &setup) && setup.Step == "preload" && len(b.python.GuestWritable) > 0 {
		message += fmt.Sprintf("; no module is imported ahead from %s, because guests may write there: if you trust it, name it (--python %s)", b.python.GuestWritable[0], b.python.Found)
	}
	if b.plan.SwitchID && b.plan.Root == nil {
		message += unreachable(b.python.Path, b.options.Policy.Read, b.plan, hostOwner)
	}
	return &run.Error{Class: run.Unsupported, Message: message, Err: err}
}

// owner is the owner of a directory, and its mode.
type owner struct {
	uid, gid uint32
	mode     os.FileMode
}

func hostOwner(path string) (owner, error) {
	info, err := os.Stat(path)
	if err != nil {
		return owner{}, err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, errors.ErrUnsupported
	}
	return owner{sys.Uid, sys.Gid, info.Mode()}, nil
}

// unreachable explains why a start failed without a private root and with another user
// than our own: no files were opened for that user, so it must be able to reach them. It
// does not read access control lists, so it only explains and never refuses.
func unreachable(python string, granted []string, p confine.Plan, stat func(string) (owner, error)) string {
	if dir, closed := closedTo(python, p, stat); closed {
		return fmt.Sprintf("; without a private root the interpreter must be readable by uid %d, which may not enter %s: choose one with --python, such as /usr/bin/python3", p.UID, dir)
	}
	for _, path := range granted {
		if dir, closed := closedTo(path, p, stat); closed {
			return fmt.Sprintf("; without a private root a granted path must be reachable by uid %d, which may not enter %s on the way to %s: "+
				"chmod o+x %s, or run cordon where it may make namespaces", p.UID, dir, path, dir)
		}
	}
	return ""
}

// closedTo finds the first directory on the path that the guest may not enter.
func closedTo(path string, p confine.Plan, stat func(string) (owner, error)) (dir string, closed bool) {
	if parent := filepath.Dir(path); parent != path {
		if dir, closed = closedTo(parent, p, stat); closed {
			return dir, true
		}
	}
	is, err := stat(path)
	if err != nil || !is.mode.IsDir() {
		return "", false
	}
	var enter os.FileMode = 0o001
	switch {
	case int(is.uid) == p.UID:
		enter = 0o100
	case int(is.gid) == p.GID:
		enter = 0o010
	}
	return path, is.mode&enter == 0
}
