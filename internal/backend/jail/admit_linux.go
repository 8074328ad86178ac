package jail

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/command"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// recipe describes the sandbox that a command needs.
func (b *Backend) recipe(job backend.Job) (r recipe, err error) {
	r = recipe{readOnly: job.Command.WorkspaceReadOnly, limits: job.Limits}
	if job.Command.Workspace != "" {
		if r.workspace, err = findDirectory(job.Command.Workspace, b.options.Policy.DangerousWorkspace); err != nil {
			return r, err
		}
		// From here on no link is followed: the mount is Exact.
		if job.Command.WorkspaceExact && r.workspace.path != job.Command.Workspace {
			return r, run.Errorf(run.Forbidden, "the workspace %s has a symbolic link in its path: name the directory itself", job.Command.Workspace)
		}
	}
	r.grants, err = b.grantedNow()
	return r, err
}

// check examines a command line before it is executed. Refusals come from the policy;
// an error means that the request makes no sense on this host.
func (b *Backend) check(job backend.Job, r recipe, scratch string) (program string, refusals []run.Violation, err error) {
	verdict, err := command.Check(job.Command.Args, command.Scope{
		Workspace: r.workspace.path, Dir: r.dir(scratch),
		Read: b.options.Policy.Read, Write: b.options.Policy.Write, System: b.system(),
		Scratch: scratch, Path: searchDirectories(job), AllowInterpreters: b.options.Policy.AllowInterpreters,
	})
	if err != nil {
		return "", nil, err
	}
	refusals = verdict.Refusals
	switch b.options.Policy.Egress {
	case policy.EgressStrict:
		reachable := b.grants
		if scratch == confine.Scratch { // it has namespaces
			reachable = slices.Concat(b.grants, ownLoopback())
		}
		refusals = append(refusals, egress.Preflight(reachable, job.Command.Args[1:])...)
	case policy.EgressPreflight:
		refusals = append(refusals, egress.Preflight(b.grants, job.Command.Args[1:])...)
	}
	return verdict.Path, refusals, nil
}

// ownLoopback grants the loopback addresses. A command in its own network namespace
// reaches only itself there.
var ownLoopback = sync.OnceValue(func() (grants []policy.NetGrant) {
	for _, text := range []string{"localhost:*", "127.0.0.0/8:*", "[::1]:*"} {
		if grant, err := policy.ParseNetGrant(text); err == nil { // a test checks that it is always nil
			grants = append(grants, grant)
		}
	}
	return grants
})

func findDirectory(name string, dangerous bool) (directory, error) {
	canonical, err := command.Workspace(name, dangerous)
	if err != nil {
		return directory{}, err
	}
	var stat unix.Stat_t
	if err := unix.Stat(canonical, &stat); err != nil {
		return directory{}, run.Errorf(run.Invalid, "workspace %s: %w", canonical, err)
	}
	return directory{path: canonical, dev: stat.Dev, ino: stat.Ino}, nil
}

// grantedNow identifies the files at the granted paths by device and inode. A file that
// was replaced is a different one, though its path is the same.
func (b *Backend) grantedNow() (string, error) {
	var now []byte
	for _, path := range slices.Concat(b.granted, b.writable) {
		var stat unix.Stat_t
		if err := unix.Stat(path, &stat); err != nil {
			return "", run.Errorf(run.Invalid, "the policy grants %s, which does not exist any more: %w", path, err)
		}
		now = fmt.Appendf(now, "%d:%d ", stat.Dev, stat.Ino)
	}
	return string(now), nil
}
