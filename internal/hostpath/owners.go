package hostpath

import (
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// systemTrees belong to the system, with everything below them. /run has the
	// sockets of daemons; /var/lib/docker and similar directories have the files of
	// other containers.
	systemTrees = strings.Fields("/usr /etc /boot /bin /sbin /lib /lib32 /lib64 /libx32 /libexec /run /nix /gnu /snap /lost+found " +
		"/var/run /var/lock /var/log /var/spool /var/mail /var/backups /var/cache /var/lib/dpkg /var/lib/rpm /var/lib/apt /var/lib/systemd " +
		"/var/lib/docker /var/lib/containerd /var/lib/containers /var/lib/kubelet /var/lib/etcd " +
		"/System /Library /private/etc /private/var/db")
	// personal are the directories in /run that belong to a user.
	personal = []string{"/run/media/*/*", "/run/user/*/*"}
	// homePatterns are the usual home directories; /var/home is Fedora's.
	homePatterns = strings.Fields("/root /home/* /Users/* /var/home/* /var/roothome /export/home/* /mnt/?/Users/* /run/user/*")
)

// IsSystem reports whether a real path is in a tree of the operating system.
func IsSystem(p string) bool {
	if !slices.ContainsFunc(systemTrees, func(tree string) bool { return Under(p, tree) }) {
		return false
	}
	for ; p != "/" && p != "."; p = path.Dir(p) {
		if MatchesAny(p, personal) {
			return false
		}
	}
	return true
}

// IsHome reports whether a real path is a home directory: one of homes, or a usual one.
func IsHome(p string, homes []string) bool {
	return slices.Contains(homes, p) || MatchesAny(p, homePatterns)
}

// MatchesAny reports whether a path matches one of the patterns of path.Match.
func MatchesAny(p string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, p)
		return err == nil && ok
	})
}

// Homes returns the caller's home directories, from the environment and from the user
// database, as written and without links. It ignores "/", which some containers have as
// home.
func Homes() []string {
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
