//go:build unix

package wasm

import (
	"fmt"
	"os"
	"syscall"
)

// ownAlone checks that a folder is ours, and that nobody else may write there.
func ownAlone(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !known || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not ours alone", folder)
	}
	return nil
}
