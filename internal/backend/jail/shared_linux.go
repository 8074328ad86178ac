package jail

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// shared builds sandboxes without namespaces, for hosts that refuse them, as most containers
// do. Landlock keeps a command from files, and a filter from everything else; the Runner
// answers the calls whose arguments it must see (asks_linux.go). A private directory
// replaces the /tmp of its own.
type shared struct {
	filter, extra []byte
	abi           int
	rules         []landlock.Rule // for what all commands may use
	readable      []string        // the policy's grants
}

// sharedView says what a command without namespaces sees of the host.
const sharedView = "without namespaces the names of files, users, processes and network interfaces are visible"

// sharedFiles are files of the host that programs need, and that a private root would
// replace.
var sharedFiles = []string{"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf"}

// ownTerminal is the terminal of the command, if it has one.
const ownTerminal = "/dev/tty"

func newShared(plan confine.Plan, filter []byte, mounts []confine.Mount, readable, writable []string) (*shared, error) {
	s := &shared{filter: filter, abi: plan.Landlock}
	extra, err := seccomp.Exposed(seccomp.Exposure{Truncation: plan.Landlock < 3})
	if err != nil {
		return nil, run.Errorf(run.Unsupported, "%w", err)
	}
	s.extra = extra.Common
	for _, m := range mounts {
		if m.Kind != confine.Symlink {
			s.rules = append(s.rules, landlock.Rule{Path: m.Path, Access: landlock.Read | landlock.Execute, File: m.Kind != confine.BindDir})
		}
	}
	s.rules = append(s.rules, landlock.Rule{Path: "/proc", Access: landlock.Read})
	for _, path := range slices.Concat(confine.Devices, sharedFiles, []string{ownTerminal}) {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		rule := landlock.Rule{Path: path, Access: landlock.Read, File: true}
		if strings.HasPrefix(path, "/dev/") {
			rule.Access = landlock.Sink
		}
		if path == ownTerminal {
			rule.Access |= landlock.IoctlDev
		}
		s.rules = append(s.rules, rule)
	}
	for _, path := range readable {
		s.rules = append(s.rules, landlock.Rule{Path: path, Access: landlock.Read | landlock.Execute, File: isFile(path), Exact: true})
	}
	for _, path := range writable {
		s.rules = append(s.rules, writeRule(path))
	}
	s.readable = readable
	return s, s.checkReadOnly(writable)
}

// checkReadOnly fails if a path that may only be read is below one that may be written:
// Landlock cannot take away a right again.
func (s *shared) checkReadOnly(writable []string) error {
	for _, path := range s.readable {
		for _, root := range writable {
			if path == root || strings.HasPrefix(path, root+"/") {
				return run.Errorf(run.Unsupported, "without namespaces %s cannot be read-only, because the command may write to %s: leave one of them out", path, root)
			}
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func writeRule(path string) landlock.Rule {
	if isFile(path) {
		return landlock.Rule{Path: path, Access: landlock.Sink | landlock.Execute, File: true, Exact: true}
	}
	return landlock.Rule{Path: path, Access: landlock.Scratch | landlock.Execute, Exact: true}
}

func (s *shared) prepare(plan confine.Plan, r recipe, _ streams) (p prepared, err error) {
	rules := slices.Clone(s.rules)
	if r.workspace.path != "" {
		rule := writeRule(r.workspace.path)
		if r.readOnly {
			rule.Access = landlock.Read | landlock.Execute
		} else if err := s.checkReadOnly([]string{r.workspace.path}); err != nil {
			return p, err
		}
		rules = append(rules, rule)
	}
	if p.plan, err = asOwner(plan, r); err != nil {
		return p, err
	}
	if p.private, err = namePrivate(p.plan); err != nil {
		return p, err
	}
	scratch := p.private.path
	p.command = &confine.Command{
		Dir: r.dir(scratch), Scratch: scratch, MakeScratch: !plan.SwitchID,
		Landlock: landlock.Compile(s.abi, append(rules, writeRule(scratch))), Filter: s.filter, Extra: s.extra,
	}
	return p, nil
}

// asOwner lets the commands of root run as the owner of their workspace: no mount translates
// owners here. They never run as root.
func asOwner(plan confine.Plan, r recipe) (confine.Plan, error) {
	if !plan.SwitchID || r.workspace.path == "" {
		return plan, nil
	}
	var stat unix.Stat_t
	if err := unix.Stat(r.workspace.path, &stat); err != nil {
		return plan, run.Errorf(run.Invalid, "workspace %s: %w", r.workspace.path, err)
	}
	needed := uint32(unix.S_IROTH | unix.S_IXOTH)
	if !r.readOnly {
		needed |= unix.S_IWOTH
	}
	switch {
	case stat.Uid != 0 && stat.Gid != 0:
		plan.UID, plan.GID = int(stat.Uid), int(stat.Gid)
	case stat.Mode&needed != needed:
		return plan, run.Errorf(run.Unsupported, "the workspace %s belongs to root, and without namespaces no command of root can use it: chown it to an ordinary user (the command then runs as that user), "+
			"or run cordon as an ordinary user", r.workspace.path)
	}
	return plan, nil
}

func (*shared) execute(_ recipe, program string, argv []string) (string, []string) {
	return program, argv
}

func (*shared) reports() bool { return false }

// terminal makes a terminal of the host.
func (*shared) terminal() (streams, error) { return openTerminal() }

func (*shared) close() {}

// isShared reports whether commands have no namespaces.
func (b *Backend) isShared() bool { return b.jail == policy.JailLandlock }

// sharedStatus adds to the wall of Landlock what it does not hide.
func sharedStatus(s policy.WallStatus) policy.WallStatus {
	if !s.Enforced() {
		return s
	}
	if s.Detail == "" {
		return policy.EnforcedWall(sharedView)
	}
	return policy.EnforcedWall(s.Detail + "; " + sharedView)
}

// checkShared fails if a policy needs what commands without namespaces do not have.
func (b *Backend) checkShared() error {
	if b.options.Policy.Egress != policy.EgressStrict {
		return run.Errorf(run.Unsupported, "jail: landlock cannot give commands the host's network (egress: %s): use egress: strict", b.options.Policy.Egress)
	}
	if _, err := os.Stat(childrenList); errors.Is(err, os.ErrNotExist) {
		return run.Errorf(run.Unsupported, "jail: landlock needs %s, which this kernel does not have (CONFIG_PROC_CHILDREN)", childrenList)
	}
	return nil
}
