//go:build unix

package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// nobody is the owner, inside a user namespace, of files that belong to root outside it.
const nobody = 65534

// OwnAlone checks that a directory belongs to this user, and that no other user may write to
// it or replace it.
func OwnAlone(directory string) error {
	info, err := os.Lstat(directory)
	if err != nil {
		return err
	}
	if uid, known := ownerOf(info); !info.IsDir() || !known || uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s cannot be the cache: other users may write to it", directory)
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
			return fmt.Errorf("%s cannot be the cache: other users may change %s", directory, above)
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
