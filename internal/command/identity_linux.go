package command

import (
	"io/fs"
	"syscall"
	"time"
)

// openFlags keep a file that became a FIFO from making the caller wait.
const openFlags = syscall.O_NONBLOCK | syscall.O_CLOEXEC

// identity is a file with these contents. A guest can set mtime but not ctime.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64
}

func identify(info fs.FileInfo) (identity, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, true //nolint:unconvert // Dev is narrower on some machines
}

// settled reports whether a change from now on would show: two writes within
// one step of the clock leave the same times.
func (i identity) settled() bool {
	age := time.Since(time.Unix(0, i.ctime))
	return age > settleTime
}
