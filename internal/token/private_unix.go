//go:build unix

package token

import (
	"os"

	"github.com/cordon-sandbox/cordon/run"
)

// checkPrivate refuses a file that everybody can read, or that others than its owner can
// change: a hash of one's own in it is a token. Its group may read it, as a service's
// does.
func checkPrivate(path string, info os.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return run.Errorf(run.Invalid, "token file %s has the mode %04o, so that others can read or change it: chmod 600 %[1]s (or 640)", path, mode)
	}
	return nil
}
