package workdir

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Owner is the owner of files that are written into a directory: the guest's ids on the host.
type Owner struct{ UID, GID int }

// Self is the user of this process.
func Self() Owner { return Owner{UID: os.Geteuid(), GID: os.Getegid()} }

// Do makes changes as the owner. A file system of a user namespace refuses users that the
// namespace does not have, such as root.
func (o Owner) Do(change func() error) error {
	uid, gid := os.Geteuid(), os.Getegid()
	if o.UID == uid && o.GID == gid {
		return change()
	}
	// These ids belong to the thread. Changing them cannot fail for one that may do so, and
	// for another one the calls that follow fail.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Setfsgid(o.GID)
	_ = unix.Setfsuid(o.UID)
	defer func() {
		_ = unix.Setfsuid(uid)
		_ = unix.Setfsgid(gid)
	}()
	return change()
}
