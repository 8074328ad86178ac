//go:build unix

package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// nobody owns what belongs to root outside of a user namespace.
const nobody = 65534

// OwnAlone checks that a directory belongs to this user, that no other user may write
// there, and that no other user may replace it.
func OwnAlone(directory string) error {
	info, err := os.Lstat(directory)
	if err != nil {
		return err
	}
	if uid, known := ownerOf(info); !info.IsDir() || !known || uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not ours alone", directory)
	}
	for above := filepath.Dir(directory); ; above = filepath.Dir(above) {
		info, err := os.Lstat(above)
		if err != nil {
			return err
		}
		uid, known := ownerOf(info)
		trusted := known && (uid == os.Geteuid() || uid == 0 || uid == nobody)
		open := info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
		if !info.IsDir() || !trusted || open {
			return fmt.Errorf("%s is not ours alone: others may change %s", directory, above)
		}
		if above == filepath.Dir(above) {
			return nil
		}
	}
}

func ownerOf(info fs.FileInfo) (uid int, known bool) {
	owner, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(owner.Uid), true
}
