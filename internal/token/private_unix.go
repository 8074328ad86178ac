//go:build unix

package token

import (
	"os"

	"github.com/cordon-sandbox/cordon/run"
)

// checkPrivate refuses a file that everyone can read, or that others can change: adding a
// hash to it would be a token. Its group may read it, as a service does.
func checkPrivate(path string, info os.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return run.Errorf(run.Invalid, "token file %s has mode %04o, so that others can read or change it: run chmod 600 %[1]s (or 640)", path, mode)
	}
	return nil
}
