package jail

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/policy"
)

// recipe is the part of a sandbox that differs between commands of one policy. Commands
// with equal recipes can use each other's sandboxes.
type recipe struct {
	workspace directory
	readOnly  bool
	limits    policy.Limits
	// grants identifies the files at the granted paths, see grantedNow.
	grants string
}

// directory identifies a directory of the host by its path, device and inode: another
// directory may be moved to the same path.
type directory struct {
	path     string
	dev, ino uint64
}

// dir is the command's working directory: its workspace, or that for temporary files.
func (r recipe) dir(scratch string) string { return cmp.Or(r.workspace.path, scratch) }

// mounts lists the mounts that only this recipe has.
func (r recipe) mounts() []confine.Mount {
	// Even an empty file takes kernel memory, so the number of inodes is limited too.
	scratch := fmt.Sprintf("mode=1777,size=%d,nr_inodes=%d", r.limits.Scratch, scratchFiles(r.limits))
	mounts := []confine.Mount{{Path: confine.Scratch, Kind: confine.Tmpfs, Target: scratch}}
	if r.workspace.path == "" {
		return mounts
	}
	kind := confine.WritableDir
	if r.readOnly {
		kind = confine.BindDir
	}
	return append(mounts, confine.Mount{Path: r.workspace.path, Kind: kind, Exact: true, MapOwner: true})
}

// scratchFiles is how many files the scratch space may have.
func scratchFiles(l policy.Limits) int { return int(max(1024, l.Scratch/1024)) }

// writable lists the directories of the host that a command may write to, without its
// private one.
func (r recipe) writable(p policy.Policy) []string {
	paths := slices.Clone(p.Write)
	if r.workspace.path != "" && !r.readOnly {
		paths = append(paths, r.workspace.path)
	}
	return paths
}

// landlock enforces the same paths as the mounts, and also protects the terminals and
// processes of others. It leaves sockets to the network namespace.
func (r recipe) landlock(abi int, root []confine.Mount) landlock.Ruleset {
	rules := []landlock.Rule{
		{Path: "/", Access: landlock.Read | landlock.Execute},
		{Path: "/dev", Access: landlock.Read | landlock.Sink | landlock.IoctlDev},
		{Path: "/proc", Access: landlock.Read | landlock.WriteFile},
	}
	for _, m := range root {
		switch m.Kind {
		case confine.Tmpfs, confine.WritableDir:
			rules = append(rules, landlock.Rule{Path: m.Path, Access: landlock.Scratch | landlock.Execute})
		case confine.WritableFile:
			rules = append(rules, landlock.Rule{Path: m.Path, Access: landlock.Sink | landlock.Execute, File: true})
		}
	}
	return landlock.Compile(abi, rules).WithNetwork()
}

// searchPath is the default PATH.
var searchPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// searchDirectories is the PATH of a command. The check before the start and the guest's
// execvp must find the same program, so both use this list. As in execvp, an empty or
// relative directory starts at the working directory, and an empty PATH is one empty
// directory.
func searchDirectories(job backend.Job) []string {
	if value, ok := job.Command.Env["PATH"]; ok {
		return strings.Split(value, ":")
	}
	return searchPath
}

// environment builds the command's environment. Nothing is inherited from the Runner.
func (r recipe) environment(job backend.Job, scratch string, proxy []string) []string {
	env := map[string]string{
		"HOME": scratch, "TMPDIR": scratch, "PWD": r.dir(scratch),
		"USER": "guest", "LOGNAME": "guest", "SHELL": "/bin/sh", "LANG": "C.UTF-8",
	}
	if scratch != confine.Scratch { // without namespaces
		// The file exists and cannot be read, which git takes for an error.
		env["GIT_CONFIG_NOSYSTEM"] = "1"
	}
	for _, setting := range proxy {
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
	}
	maps.Copy(env, job.Command.Env)
	env["PATH"] = strings.Join(searchDirectories(job), ":")
	settings := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		settings = append(settings, name+"="+env[name])
	}
	return settings
}
