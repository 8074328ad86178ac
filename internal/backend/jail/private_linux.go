package jail

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/run"
)

// privateDirectory is a directory on the host for the temporary files of one command, which
// has no /tmp of its own. It is locked while it is used. A directory that is not new and not
// locked was left by a Runner that was killed together with the init, or right after it.
type privateDirectory struct {
	path string
	lock int
}

const privatePattern = "cordon-jail-"

// namePrivate chooses a name. The child of an ordinary user makes the directory, so that it
// does not stay if the Runner is killed before. The child of root could not, in a directory
// that only root may write.
func namePrivate(plan confine.Plan) (*privateDirectory, error) {
	parent, err := filepath.EvalSymlinks(os.TempDir()) // Landlock and the checks compare resolved paths
	if err != nil {
		return nil, noPrivate(err)
	}
	d := &privateDirectory{filepath.Join(parent, privatePattern+rand.Text()), -1}
	if !plan.SwitchID {
		return d, nil
	}
	if err = os.Mkdir(d.path, 0o700); err == nil {
		err = os.Chown(d.path, plan.UID, plan.GID)
	}
	if err != nil {
		d.remove()
		return nil, noPrivate(err)
	}
	return d, nil
}

// noPrivate explains why there is no private directory.
func noPrivate(err error) error {
	return run.Errorf(run.Unsupported, "%w: commands without namespaces have their temporary files below %s, which their user must be able to use: set TMPDIR to another directory",
		err, os.TempDir())
}

// keep locks the directory.
func (d *privateDirectory) keep() (err error) {
	if d.lock, err = lockDirectory(d.path); err != nil {
		return run.Errorf(run.Internal, "the private directory of a command: %w", err)
	}
	return nil
}

// lockDirectory fails if another process has locked it.
func lockDirectory(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// remove removes the directory when all processes of the command have ended. If it was empty,
// the init has removed it already. What remove cannot remove, a later Runner will: see
// removeStale.
func (d *privateDirectory) remove() {
	if d.lock >= 0 {
		defer unix.Close(d.lock)
	}
	if os.RemoveAll(d.path) == nil {
		return
	}
	// A directory without permissions cannot be emptied by an ordinary user.
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = root.Chmod(name, 0o700) // otherwise its files stay
		}
		return nil
	})
	_ = os.RemoveAll(d.path)
}

// removeStale removes the private directories of Runners that were killed. It does so once:
// each new Runner would look at all temporary files.
var removeStale = sync.OnceFunc(func() { removeStaleIn(os.TempDir()) })

func removeStaleIn(dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, privatePattern+"*"))
	if err != nil {
		return
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !ours(info) || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if lock, err := lockDirectory(path); err == nil {
			(&privateDirectory{path, lock}).remove()
		}
	}
}

// staleAfter is longer than it takes to lock a new directory.
const staleAfter = time.Minute

// ours reports whether this user may remove the directory of a command. Root's commands have
// other users.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (os.Geteuid() == 0 || int(stat.Uid) == os.Geteuid())
}
