package rootfs

import (
	"path"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// maxPath bounds what a guest may make us split and walk: Linux has the same.
const maxPath = 4096

// inside makes a path of the guest relative to its mount. A slash in front is
// no absolute path: wazero puts one there for files below an opened ".".
// Dots stay, because a name before ".." may be a link; os.Root knows.
func inside(name string) (string, sys.Errno) {
	switch {
	case len(name) > maxPath:
		return "", sys.ENAMETOOLONG
	case strings.ContainsAny(name, separators):
		return "", sys.EINVAL
	}
	name = strings.TrimLeft(name, "/")
	if name == "" {
		return ".", 0
	}
	return name, 0
}

// leaves says whether a link at name with this text points out of the mount, as
// far as the words tell.
func leaves(name, text string) bool {
	if text == "" || strings.HasPrefix(text, "/") || strings.ContainsAny(text, separators) {
		return true
	}
	joined := path.Join(path.Dir(path.Clean(name)), text)
	return joined == ".." || strings.HasPrefix(joined, "../")
}

// isTop says whether name is the mount itself.
func isTop(name string) bool { return path.Clean(name) == "." }

// isBelow says whether a guest's path is in the directory.
func isBelow(name, directory string) bool {
	return directory == "/" || strings.HasPrefix(name, directory+"/")
}

// below is the rest of a guest's path in the directory.
func below(name, directory string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, directory), "/")
}
