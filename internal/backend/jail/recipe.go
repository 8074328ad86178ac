package jail

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/policy"
)

// recipe is what the place of a command looks like, beside what the policy says
// for all. Commands with equal recipes can use the same kind of place.
type recipe struct {
	workspace directory
	readOnly  bool
	limits    policy.Limits
	// grants tells what lies at the paths of the policy's grants.
	grants string
}

// directory is a directory of the host, by its path and by what lies there: another
// one may be moved to the same path.
type directory struct {
	path     string
	dev, ino uint64
}

// dir is where the command starts.
func (r recipe) dir() string {
	if r.workspace.path == "" {
		return confine.Scratch
	}
	return r.workspace.path
}

// mounts are those of the recipe's own.
func (r recipe) mounts() []confine.Mount {
	// Each file takes some memory of the kernel's even when it is empty.
	scratch := fmt.Sprintf("mode=1777,size=%d,nr_inodes=%d", r.limits.Scratch, max(1024, r.limits.Scratch/1024))
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

// changeable lists the directories of the host that a command may write to.
func (r recipe) changeable(p policy.Policy) []string {
	paths := slices.Clone(p.Write)
	if r.workspace.path != "" && !r.readOnly {
		paths = append(paths, r.workspace.path)
	}
	return paths
}

// landlock repeats the mounts, and closes what they leave open: the terminals and
// processes of others. A command may have sockets; its network is what is closed.
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

// searchPath is where a command looks for programs, unless the request says.
var searchPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// searchDirectories is the PATH that a command will have. What is looked at before
// the start and what the guest's execvp finds must not differ, so both take it
// from here. An empty or relative directory begins at the working directory, as for
// execvp; an empty PATH is one empty directory.
func searchDirectories(job backend.Job) []string {
	if value, ok := job.Env["PATH"]; ok {
		return strings.Split(value, ":")
	}
	return searchPath
}

// environment is built, never inherited.
func (r recipe) environment(job backend.Job, proxy []string) []string {
	env := map[string]string{
		"HOME": confine.Scratch, "TMPDIR": confine.Scratch, "PWD": r.dir(),
		"USER": "guest", "LOGNAME": "guest", "SHELL": "/bin/sh", "LANG": "C.UTF-8",
	}
	for _, setting := range proxy {
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
	}
	maps.Copy(env, job.Env)
	env["PATH"] = strings.Join(searchDirectories(job), ":")
	settings := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		settings = append(settings, name+"="+env[name])
	}
	return settings
}
