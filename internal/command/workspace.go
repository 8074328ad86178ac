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

// Workspace returns the canonical path of a directory (absolute, without links). It refuses
// directories that must not be a workspace, because untrusted code gets everything in it.
// With dangerous, it refuses only directories that would break the jail itself.
func Workspace(name string, dangerous bool) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: it is not a path; name a directory", show(name))
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s has no absolute path: %w", show(name), err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", run.Errorf(run.Invalid, "the workspace %s does not exist; create the directory first: %w", show(name), err)
	}
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s cannot be reached: %w", show(name), err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", run.Errorf(run.Invalid, "the workspace %s cannot be reached: %w", show(name), err)
	}
	display := show(name)
	if real != name {
		display += " (" + show(real) + ")"
	}
	if !info.IsDir() {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: it is not a directory; name the directory it is in", display)
	}
	p := filepath.ToSlash(real)
	if why := neverWorkspace(p); why != "" {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace, not even with --dangerous-workspace: %s; name the directory of one project", display, why)
	}
	if dangerous {
		return real, nil
	}
	if why := dangerousWorkspace(p, hostpath.Homes(), lexists); why != "" {
		return "", run.Errorf(run.Invalid, "%s cannot be a workspace: %s; name the directory of one project, or use --dangerous-workspace", display, why)
	}
	return real, nil
}

func lexists(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return err == nil
}

// neverWorkspace returns why a directory cannot be a workspace, or "": the sandbox has its
// own directory there. A workspace below /tmp or /dev/shm is mounted into the sandbox's.
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
	// sharedDirs are directories that all users share, or the root of a disk (/mnt/c
	// is a Windows disk); a directory below one is fine.
	sharedDirs = strings.Fields("/var /var/lib /var/tmp /var/www /var/opt /var/local /opt /srv /mnt /media /tmp /home /Users /Volumes /Applications " +
		"/export /export/home /var/home /private /private/tmp /private/var /run/media /run/media/* /run/user /media/* /mnt/? /mnt/?/Users")

	// homeMarkers are names of files that mark a directory as a home, whatever its name.
	homeMarkers = strings.Fields(".ssh .gnupg .aws .azure .kube .password-store .netrc .pgpass .git-credentials .bash_history .zsh_history .mozilla")
	// secretDirs are directories that cannot be or contain a workspace.
	secretDirs = strings.Fields(".ssh .gnupg .aws .azure .kube .docker .password-store .mozilla")
	// tokenDirs are the directories in a home where programs keep tokens.
	tokenDirs = strings.Fields(".config .local .cache .docker Library AppData")
)

// dangerousWorkspace returns why a canonical directory should not be a workspace, or "".
func dangerousWorkspace(p string, homes []string, exists func(string) bool) string {
	for _, home := range homes {
		switch {
		case p == home:
			return "it is a home directory, with keys and passwords in it"
		case hostpath.Under(home, p):
			return "the home directory " + show(home) + " is in it"
		case path.Dir(p) == home && slices.Contains(tokenDirs, path.Base(p)):
			return "programs keep their passwords there"
		}
	}
	if hostpath.MatchesAny(p, sharedDirs) {
		return "the directories of others are in it"
	}
	if hostpath.IsHome(p, nil) {
		return "it is a home directory, with keys and passwords in it"
	}
	if hostpath.IsSystem(p) {
		return "it belongs to the system"
	}
	for part := range strings.SplitSeq(p, "/") {
		if slices.Contains(secretDirs, part) {
			return "keys and passwords are kept in " + part
		}
	}
	for _, name := range homeMarkers {
		if exists(path.Join(p, name)) {
			return "it has " + name + " in it, so it is a home directory"
		}
	}
	return ""
}
