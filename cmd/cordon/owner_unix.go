//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and group of the file that it replaces, if there
// is one: a service may read it through its group.
func keepOwner(made, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := os.Stat(made)
	if err != nil {
		return err
	}
	old, ok := info.Sys().(*syscall.Stat_t)
	now, known := ours.Sys().(*syscall.Stat_t)
	if !ok || !known || old.Uid == now.Uid && old.Gid == now.Gid {
		return nil
	}
	return os.Lchown(made, int(old.Uid), int(old.Gid))
}
