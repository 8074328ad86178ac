package jail

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/run"
)

// bwrap lets an installed bubblewrap build the root. Before it starts, everything that
// it cannot take from the host is mounted below a staging directory: directories that
// its user might not be able to reach, with their owners translated; new files; and a
// scratch space with a size limit.
type bwrap struct {
	program hostpath.Program
	filter  int // a file with the system call filter
	root    []confine.Mount
	system  []string
	scoped  bool // Landlock restricts sockets and signals: see landlock.Scope
}

// stage is the staging directory. It is mounted over for bubblewrap only.
const stage = "/tmp"

func newBwrap(filter []byte, root []confine.Mount, system []string, guests hostpath.Guests) (*bwrap, error) {
	program, err := hostpath.FindProgram("bwrap", guests)
	if err != nil {
		return nil, run.Errorf(run.Unsupported, "jail: bwrap needs bubblewrap, which is not installed: apt-get install bubblewrap, or use jail: native: %w", err)
	}
	b := &bwrap{program: program, filter: -1, root: root, system: system}
	if filter == nil {
		return b, nil
	}
	if b.filter, err = unix.MemfdCreate("cordon-filter", unix.MFD_CLOEXEC); err == nil {
		_, err = unix.Write(b.filter, filter)
	}
	if err != nil {
		b.close()
		return nil, run.Errorf(run.Internal, "the filter for bubblewrap: %w", err)
	}
	return b, nil
}

func (*bwrap) reports() bool { return true }

// wasExecuted reads bubblewrap's report, which ends with the exit code of the command.
// Without an exit code bubblewrap itself failed, and wrote the reason to stderr.
func wasExecuted(report []byte) bool { return bytes.Contains(report, []byte(`"exit-code"`)) }

// terminal makes a terminal of the host, which bubblewrap gives a name inside.
func (*bwrap) terminal() (streams, error) { return openTerminal() }

func (b *bwrap) close() {
	if b.filter >= 0 {
		unix.Close(b.filter)
	}
}

func (b *bwrap) prepare(plan confine.Plan, r recipe, _ streams) (prepared, error) {
	// The workspace is known only now. A command that may write there must not be able to
	// replace bubblewrap.
	if r.workspace.path != "" {
		if dir, held := b.program.In(hostpath.Guests{r.workspace.path}); held {
			return prepared{}, run.Errorf(run.Unsupported, "bubblewrap was found at %s, and the command may write to %s: remove that directory from PATH", b.program.Path, dir)
		}
	}
	plan.Namespaces &= confine.CloneNewUser | confine.CloneNewPID | confine.CloneNewNS | confine.CloneNewNet
	plan.Root, plan.Stage = b.staged(r), stage
	plan.Seccomp = confine.SeccompOff // bubblewrap installs it, after its own mounts
	c := &confine.Command{Dir: "/", Scratch: path.Join(stage, "scratch")}
	if b.scoped {
		plan.Landlock, c.Landlock = 1, landlock.Scope() // whatever the ABI
	}
	if b.filter < 0 {
		return prepared{plan: plan, command: c}, nil
	}
	// Each bubblewrap reads the file to its end, so each gets its own file offset.
	filter, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", b.filter), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return prepared{}, run.Errorf(run.Internal, "the filter for bubblewrap: %w", err)
	}
	c.Kept = []int{filter}
	return prepared{plan: plan, command: c}, nil
}

// staged lists the mounts below the staging directory: all that bubblewrap does not take
// from the host directly. A mount inside another staged directory is made inside it on
// the stage, because bubblewrap would follow symlinks in that directory.
func (b *bwrap) staged(r recipe) []confine.Mount {
	mounts := []confine.Mount{}
	at := map[string]string{} // path in the sandbox → path on the stage
	for i, m := range b.inner(r) {
		switch {
		case m.Kind == confine.Tmpfs:
			m.Path = "/scratch"
		case b.stages(m):
			m.Source = cmp.Or(m.Source, m.Path)
			staged := stagedName(i)
			if parent := enclosing(at, m.Path); parent != "" {
				staged = at[parent] + strings.TrimPrefix(m.Path, parent)
			}
			if m.Kind != confine.TextFile {
				at[m.Path] = staged
			}
			m.Path = staged
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// enclosing returns the innermost directory that contains the path, or "".
func enclosing(directories map[string]string, path string) (found string) {
	for directory := range directories {
		if strings.HasPrefix(path, directory+"/") && len(directory) > len(found) {
			found = directory
		}
	}
	return found
}

// inner lists the mounts of the root that bubblewrap builds, except for /dev, which it
// fills itself.
func (b *bwrap) inner(r recipe) []confine.Mount {
	return slices.DeleteFunc(root(b.root, r), func(m confine.Mount) bool {
		return strings.HasPrefix(m.Path, "/dev/") && !strings.HasPrefix(m.Path, confine.SharedMemory+"/")
	})
}

func (b *bwrap) stages(m confine.Mount) bool {
	switch m.Kind {
	case confine.TextFile, confine.WritableDir, confine.WritableFile:
		return true
	case confine.BindDir, confine.BindFile:
		return !slices.Contains(b.system, m.Path)
	}
	return false
}

func stagedName(i int) string { return "/" + strconv.Itoa(i) }

// arguments returns bubblewrap's command line, which describes the root.
func (b *bwrap) arguments(r recipe) []string {
	id, scratch := strconv.Itoa(confine.CommandID), stage+"/scratch"
	args := []string{
		b.program.Path, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--uid", id, "--gid", id, "--hostname", "cordon", "--cap-drop", "ALL", "--dev", "/dev", "--bind", scratch, confine.SharedMemory,
	}
	bound := map[string]string{}
	// The tmpfs that bubblewrap mounts has no size limit, so it becomes read-only.
	sealed := []string{"--remount-ro", "/dev", "--remount-ro", "/"}
	for i, m := range b.inner(r) {
		switch {
		case m.Kind == confine.Symlink:
			args = append(args, "--symlink", m.Target, m.Path)
		case m.Kind == confine.MaskedFile:
			args = append(args, "--ro-bind", "/dev/null", m.Path)
		case m.Kind == confine.MaskedDir:
			args = append(args, "--tmpfs", m.Path, "--remount-ro", m.Path)
		case m.Kind == confine.EmptyDir:
			args = append(args, "--dir", m.Path)
		case m.Kind == confine.Proc:
			args = append(args, "--proc", m.Path)
		case m.Kind == confine.Tmpfs, m.Kind == confine.ScratchView:
			args = append(args, "--bind", scratch, m.Path)
		case m.Kind == confine.ParentDir:
			args = append(args, "--tmpfs", m.Path)
			sealed = append(sealed, "--remount-ro", m.Path)
		case b.stages(m) && enclosing(bound, m.Path) != "":
			// It is part of the directory around it.
		case m.Kind == confine.TextFile:
			// The file belongs to the command's user, who could change it.
			args = append(args, "--ro-bind", stage+stagedName(i), m.Path)
		case b.stages(m):
			// Read-only mounts are already read-only on the stage.
			args = append(args, "--bind", stage+stagedName(i), m.Path)
			bound[m.Path] = m.Path
		default:
			args = append(args, "--ro-bind", m.Path, m.Path)
		}
	}
	args = append(append(args, sealed...), "--chdir", r.dir(confine.Scratch))
	status := confine.FirstKeptFD
	if b.filter >= 0 {
		args = append(args, "--seccomp", strconv.Itoa(status))
		status++
	}
	return append(args, "--json-status-fd", strconv.Itoa(status))
}

func (b *bwrap) execute(r recipe, program string, argv []string) (string, []string) {
	return b.program.Path, append(b.arguments(r), append([]string{"--", program}, argv[1:]...)...)
}
