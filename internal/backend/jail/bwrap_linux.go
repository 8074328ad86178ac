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

// bwrap has an installed bubblewrap build the root. What it needs for that is put
// on a stage: directories that its user might not be able to reach, with their owners
// translated, files that are made anew, and a scratch space with a size.
type bwrap struct {
	program hostpath.Program
	filter  int // a file with the system call filter
	root    []confine.Mount
	system  []string
	scoped  bool // by Landlock: see landlock.Scope
}

// stage is covered before bubblewrap starts, and only for it.
const stage = "/tmp"

func newBwrap(filter []byte, root []confine.Mount, system []string, guests hostpath.Guests) (*bwrap, error) {
	program, err := hostpath.FindProgram("bwrap", guests)
	if err != nil {
		return nil, run.Errorf(run.Unsupported, "bubblewrap is not installed: apt-get install bubblewrap, or leave the backend out: %w", err)
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

// executed reads a report: bubblewrap writes an exit code at the end, which is
// the command's. Without one, it has failed itself, and said why on stderr.
func executed(report []byte) bool { return bytes.Contains(report, []byte(`"exit-code"`)) }

// terminal is one of the host's, which bubblewrap gives a name inside.
func (*bwrap) terminal() (streams, error) { return openTerminal() }

func (b *bwrap) close() {
	if b.filter >= 0 {
		unix.Close(b.filter)
	}
}

func (b *bwrap) place(plan confine.Plan, r recipe) (confine.Plan, *confine.Command, error) {
	// The workspace is known only now. Who writes there must not replace bubblewrap.
	if r.workspace.path != "" {
		if dir, held := b.program.In(hostpath.Guests{r.workspace.path}); held {
			return plan, nil, run.Errorf(run.Unsupported, "bubblewrap was found at %s, and the command may write to %s: take that directory out of PATH", b.program.Path, dir)
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
		return plan, c, nil
	}
	// Opened anew: bubblewrap reads to the end, and the next one from the start.
	filter, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", b.filter), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return plan, c, run.Errorf(run.Internal, "the filter for bubblewrap: %w", err)
	}
	c.Kept = []int{filter}
	return plan, c, nil
}

// staged lists what bubblewrap does not take from the host by itself. What lies in
// a directory that is there too comes with it: bubblewrap would follow symlinks in it.
func (b *bwrap) staged(r recipe) []confine.Mount {
	mounts := []confine.Mount{}
	at := map[string]string{} // by path, the place on the stage
	for i, m := range b.inner(r) {
		switch {
		case m.Kind == confine.Tmpfs:
			m.Path = "/scratch"
		case b.stages(m):
			m.Source = cmp.Or(m.Source, m.Path)
			place := stagedName(i)
			if parent := enclosing(at, m.Path); parent != "" {
				place = at[parent] + strings.TrimPrefix(m.Path, parent)
			}
			if m.Kind != confine.TextFile {
				at[m.Path] = place
			}
			m.Path = place
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// enclosing gives the innermost directory that has the path in it, or nothing.
func enclosing(directories map[string]string, path string) (found string) {
	for directory := range directories {
		if strings.HasPrefix(path, directory+"/") && len(directory) > len(found) {
			found = directory
		}
	}
	return found
}

// inner is the root that bubblewrap builds, without the directories that it has an
// idea of its own about.
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

// arguments tell bubblewrap what the root is made of.
func (b *bwrap) arguments(r recipe) []string {
	id, scratch := strconv.Itoa(confine.CommandID), stage+"/scratch"
	args := []string{
		b.program.Path, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--uid", id, "--gid", id, "--hostname", "cordon", "--cap-drop", "ALL", "--dev", "/dev", "--bind", scratch, confine.SharedMemory,
	}
	bound := map[string]string{}
	// What bubblewrap makes by itself has no size.
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
			// It came with the directory around it.
		case m.Kind == confine.TextFile:
			// It belongs to the command's own user, who could change it.
			args = append(args, "--ro-bind", stage+stagedName(i), m.Path)
		case b.stages(m):
			// What is read-only is that on the stage already.
			args = append(args, "--bind", stage+stagedName(i), m.Path)
			bound[m.Path] = m.Path
		default:
			args = append(args, "--ro-bind", m.Path, m.Path)
		}
	}
	args = append(append(args, sealed...), "--chdir", r.dir())
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
