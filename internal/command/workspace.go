package command

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/run"
)

// Workspace makes a folder's path canonical (absolute, without links) and
// refuses what must not be one: a workspace is handed to untrusted code with
// all that is in it. With dangerous, only what would break the jail itself is
// refused.
func Workspace(name string, dangerous bool) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: it is no path; name a folder", show(name))
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s has no absolute path: %w", show(name), err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", run.Errorf(run.Invalid, "the workspace %s does not exist; make the folder first: %w", show(name), err)
	}
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s cannot be reached: %w", show(name), err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s cannot be reached: %w", show(name), err)
	}
	called := show(name)
	if real != name {
		called += " (" + show(real) + ")"
	}
	if !info.IsDir() {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: it is not a folder; name the folder it is in", called)
	}
	p := filepath.ToSlash(real)
	if why := neverWorkspace(p); why != "" {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace, not even with --dangerous-workspace: %s; name the folder of one project", called, why)
	}
	if dangerous {
		return real, nil
	}
	if why := dangerousWorkspace(p, homes(), lexists); why != "" {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: %s; name the folder of one project, or insist with --dangerous-workspace", called, why)
	}
	return real, nil
}

func lexists(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return err == nil
}

// neverWorkspace are the directories that the sandbox has of its own. A workspace
// below /tmp or /dev/shm is mounted into the sandbox's.
func neverWorkspace(p string) string {
	if path.Dir(p) == p || filepath.VolumeName(p) != "" && strings.Trim(p[len(filepath.VolumeName(p)):], "/") == "" {
		return "it is the root of the file system"
	}
	if p == "/tmp" {
		return "the sandbox has a /tmp of its own"
	}
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if interpreter.Under(p, dir) && !strings.HasPrefix(p, "/dev/shm/") {
			return "it belongs to the kernel"
		}
	}
	return ""
}

var (
	// systemTrees are the system's, with everything below. /run has the
	// sockets of daemons, /var/lib/docker and its like the files of others.
	systemTrees = strings.Fields("/usr /etc /boot /bin /sbin /lib /lib32 /lib64 /libx32 /libexec /run /nix /gnu /snap /lost+found " +
		"/var/run /var/lock /var/log /var/spool /var/mail /var/backups /var/cache /var/lib/dpkg /var/lib/rpm /var/lib/apt /var/lib/systemd " +
		"/var/lib/docker /var/lib/containerd /var/lib/containers /var/lib/kubelet /var/lib/etcd " +
		"/System /Library /private/etc /private/var/db")
	// crossroads are shared by everybody, or the root of a disk (/mnt/c is one
	// of Windows); a folder of one's own below is fine.
	crossroads = strings.Fields("/var /var/lib /var/tmp /var/www /var/opt /var/local /opt /srv /mnt /media /tmp /home /Users /Volumes /Applications " +
		"/export /export/home /var/home /private /private/tmp /private/var /run/media /run/media/* /run/user /media/* /mnt/? /mnt/?/Users")
	// personal are folders in /run that are a user's after all.
	personal = []string{"/run/media/*/*", "/run/user/*/*"}
	// settled are where people live; /var/home is Fedora's.
	settled = strings.Fields("/root /home/* /Users/* /var/home/* /var/roothome /export/home/* /mnt/?/Users/* /run/user/*")

	// secrets mean that a folder is a home, whatever it is called.
	secrets = strings.Fields(".ssh .gnupg .aws .azure .kube .password-store .netrc .pgpass .git-credentials .bash_history .zsh_history .mozilla")
	// secretTrees are folders that are no workspace themselves.
	secretTrees = strings.Fields(".ssh .gnupg .aws .azure .kube .docker .password-store .mozilla")
	// inHome are the folders of a home where programs keep tokens.
	inHome = strings.Fields(".config .local .cache .docker Library AppData")
)

// dangerousWorkspace says why a canonical folder had better not be one, or "".
func dangerousWorkspace(p string, homes []string, exists func(string) bool) string {
	for _, home := range homes {
		switch {
		case p == home:
			return "it is a home directory, with keys and passwords in it"
		case interpreter.Under(home, p):
			return "the home directory " + show(home) + " is in it"
		case path.Dir(p) == home && slices.Contains(inHome, path.Base(p)):
			return "programs keep their passwords there"
		}
	}
	if matchesAny(p, crossroads) {
		return "the folders of others are in it"
	}
	if matchesAny(p, settled) {
		return "it is a home directory, with keys and passwords in it"
	}
	if underAny(p, systemTrees) && !isPersonal(p) {
		return "it belongs to the system"
	}
	for part := range strings.SplitSeq(p, "/") {
		if slices.Contains(secretTrees, part) {
			return "keys and passwords are kept in " + part
		}
	}
	for _, name := range secrets {
		if exists(path.Join(p, name)) {
			return "it has " + name + " in it, so it is a home directory"
		}
	}
	return ""
}

func matchesAny(p string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, p)
		return err == nil && ok
	})
}

// isPersonal reports whether p is one of the personal folders or below one.
func isPersonal(p string) bool {
	for ; p != "/" && p != "."; p = path.Dir(p) {
		if matchesAny(p, personal) {
			return true
		}
	}
	return false
}

// homes are the caller's: what the environment says and what the user database
// says, as written and without links. A home at the root, as some containers
// have it, tells nothing.
func homes() []string {
	var all []string
	add := func(home string) {
		if home == "" || !filepath.IsAbs(home) {
			return
		}
		all = append(all, filepath.ToSlash(filepath.Clean(home)))
		if real, err := filepath.EvalSymlinks(home); err == nil {
			all = append(all, filepath.ToSlash(real))
		}
	}
	add(os.Getenv("HOME"))
	if u, err := user.Current(); err == nil {
		add(u.HomeDir)
	}
	return slices.DeleteFunc(all, func(home string) bool { return home == "/" || home == "/nonexistent" })
}
