package command

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// Workspace makes a directory's path canonical (absolute, without links) and
// refuses what must not be one: a workspace is handed to untrusted code with
// all that is in it. With dangerous, only what would break the jail itself is
// refused.
func Workspace(name string, dangerous bool) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: it is no path; name a directory", show(name))
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s has no absolute path: %w", show(name), err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", run.Errorf(run.Invalid, "the workspace %s does not exist; make the directory first: %w", show(name), err)
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
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: it is not a directory; name the directory it is in", called)
	}
	p := filepath.ToSlash(real)
	if why := neverWorkspace(p); why != "" {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace, not even with --dangerous-workspace: %s; name the directory of one project", called, why)
	}
	if dangerous {
		return real, nil
	}
	if why := dangerousWorkspace(p, hostpath.Homes(), lexists); why != "" {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: %s; name the directory of one project, or insist with --dangerous-workspace", called, why)
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
		if hostpath.Under(p, dir) && !strings.HasPrefix(p, "/dev/shm/") {
			return "it belongs to the kernel"
		}
	}
	return ""
}

var (
	// crossroads are shared by everybody, or the root of a disk (/mnt/c is one
	// of Windows); a directory of one's own below is fine.
	crossroads = strings.Fields("/var /var/lib /var/tmp /var/www /var/opt /var/local /opt /srv /mnt /media /tmp /home /Users /Volumes /Applications " +
		"/export /export/home /var/home /private /private/tmp /private/var /run/media /run/media/* /run/user /media/* /mnt/? /mnt/?/Users")

	// secrets mean that a directory is a home, whatever it is called.
	secrets = strings.Fields(".ssh .gnupg .aws .azure .kube .password-store .netrc .pgpass .git-credentials .bash_history .zsh_history .mozilla")
	// secretTrees are directories that are no workspace themselves.
	secretTrees = strings.Fields(".ssh .gnupg .aws .azure .kube .docker .password-store .mozilla")
	// inHome are the directories of a home where programs keep tokens.
	inHome = strings.Fields(".config .local .cache .docker Library AppData")
)

// dangerousWorkspace says why a canonical directory had better not be one, or "".
func dangerousWorkspace(p string, homes []string, exists func(string) bool) string {
	for _, home := range homes {
		switch {
		case p == home:
			return "it is a home directory, with keys and passwords in it"
		case hostpath.Under(home, p):
			return "the home directory " + show(home) + " is in it"
		case path.Dir(p) == home && slices.Contains(inHome, path.Base(p)):
			return "programs keep their passwords there"
		}
	}
	if hostpath.MatchesAny(p, crossroads) {
		return "the directories of others are in it"
	}
	if hostpath.IsHome(p, nil) {
		return "it is a home directory, with keys and passwords in it"
	}
	if hostpath.IsSystem(p) {
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
