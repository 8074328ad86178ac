package rootfs

import (
	"path"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// maxPath bounds the length of a guest's path, as on Linux.
const maxPath = 4096

// inside makes a guest's path relative to its mount. A leading slash does not make it
// absolute: wazero adds one for files below an opened ".". Dots stay, because a name before
// ".." may be a link, which os.Root handles.
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

// leaves reports whether a link at name with this text points out of the mount, judged by the
// text alone.
func leaves(name, text string) bool {
	if text == "" || strings.HasPrefix(text, "/") || strings.ContainsAny(text, separators) {
		return true
	}
	joined := path.Join(path.Dir(path.Clean(name)), text)
	return joined == ".." || strings.HasPrefix(joined, "../")
}

// isTop reports whether name is the mount itself.
func isTop(name string) bool { return path.Clean(name) == "." }

// isBelow reports whether a guest's path is in the directory.
func isBelow(name, directory string) bool {
	return directory == "/" || strings.HasPrefix(name, directory+"/")
}

// below returns a guest's path relative to the directory.
func below(name, directory string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, directory), "/")
}
