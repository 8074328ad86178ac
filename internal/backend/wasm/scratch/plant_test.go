package scratch

import (
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// plant creates directories ("a/"), links ("a -> b"), hard links ("a = b") and files.
func plant(t testing.TB, fs sys.FS, names ...string) {
	t.Helper()
	for _, name := range names {
		var errno sys.Errno
		if link, text, ok := strings.Cut(name, " -> "); ok {
			errno = fs.Symlink(text, link)
		} else if link, of, ok := strings.Cut(name, " = "); ok {
			errno = fs.Link(of, link)
		} else if directory, ok := strings.CutSuffix(name, "/"); ok {
			errno = fs.Mkdir(directory, 0o700)
		} else {
			var f sys.File
			if f, errno = fs.OpenFile(name, sys.O_WRONLY|sys.O_CREAT|sys.O_EXCL, 0o600); errno == 0 {
				if _, errno = f.Write([]byte(name)); errno == 0 {
					errno = f.Close()
				}
			}
		}
		if errno != 0 {
			t.Fatalf("%s: %v", name, errno)
		}
	}
}
