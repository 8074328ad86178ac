//go:build !windows

package portable

import (
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/command"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// admit examines a command line before it is executed. Refusals come from the policy; an
// error means that the request makes no sense on this host.
func (b *Commands) admit(job backend.Job, p paths) (program string, refusals []run.Violation, err error) {
	verdict, err := command.Check(job.Command.Args, command.Scope{
		Workspace: p.workspace, Dir: p.start(), Read: b.read, Write: b.write, System: b.options.Launcher.System().Directories,
		Scratch: p.dir, Path: b.searchDirectories(job), AllowInterpreters: b.options.Policy.AllowInterpreters,
	})
	return verdict.Path, verdict.Refusals, err
}

// commandWords describes what admit checks.
func commandWords(interpreters bool) policy.WallStatus {
	if interpreters {
		return policy.EnforcedWall("interpreters are allowed")
	}
	return policy.EnforcedWall("")
}

// systemEnvironment is what programs cannot work without: nothing here.
func systemEnvironment() []string { return nil }
