package jail

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// diskWatch bounds what a command adds to folders of the host. The kernel has
// quotas for users only. What is counted are the files that have changed since
// the start, by the space that they take.
//
// To count takes a walk. The file system's own number of free blocks, which costs
// nothing, says when one is due: nobody can have written more than it has shrunk,
// unless others have made room meanwhile; so there is a walk now and then anyway.
type diskWatch struct {
	roots []string
	limit int64
	began time.Time
	free  []int64 // of each root's file system, at the start
	next  time.Time
	over  bool
}

func newDiskWatch(roots []string, limit int64) *diskWatch {
	// The kernel's clock for files ticks slower than ours.
	w := &diskWatch{roots: roots, limit: limit, began: time.Now().Add(-clockSlack)}
	for _, root := range roots {
		w.free = append(w.free, freeSpace(root))
	}
	w.next = w.began.Add(walkEvery)
	return w
}

const (
	clockSlack = 20 * time.Millisecond
	walkEvery  = 2 * time.Second
)

func freeSpace(root string) int64 {
	var stat unix.Statfs_t
	if unix.Statfs(root, &stat) != nil {
		return 0
	}
	return int64(stat.Bfree) * stat.Bsize
}

// look says over when the limit is passed.
func (w *diskWatch) look() {
	if w.over || len(w.roots) == 0 {
		return
	}
	due := time.Now().After(w.next)
	for i, root := range w.roots {
		due = due || w.free[i]-freeSpace(root) > w.limit/2
	}
	if !due {
		return
	}
	started := time.Now()
	var used int64
	seen := map[[2]uint64]bool{}
	for _, root := range w.roots {
		used += w.changed(root, seen)
	}
	w.over = used > w.limit
	// A large workspace must not keep a processor busy.
	w.next = time.Now().Add(max(walkEvery, 20*time.Since(started)))
}

// changed adds up the files that have changed since the start. os.Root keeps the
// walk inside, whatever the command does to the folders meanwhile.
func (w *diskWatch) changed(path string, seen map[[2]uint64]bool) (sum int64) {
	root, err := os.OpenRoot(path)
	if err != nil {
		if info, err := os.Lstat(path); err == nil {
			return w.size(info, seen) // a grant of a single file
		}
		return 0
	}
	defer func() { _ = root.Close() }() // it was read only
	_ = fs.WalkDir(root.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone, or not ours to read: then the command could not fill it
		}
		if info, err := entry.Info(); err == nil {
			sum += w.size(info, seen)
		}
		if sum > w.limit {
			return errEnough
		}
		return nil
	})
	return sum
}

var errEnough = errors.New("enough")

func (w *diskWatch) size(info fs.FileInfo, seen map[[2]uint64]bool) int64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || time.Unix(stat.Ctim.Unix()).Before(w.began) {
		return 0
	}
	id := [2]uint64{stat.Dev, stat.Ino}
	if stat.Nlink > 1 && seen[id] {
		return 0
	}
	seen[id] = true
	return stat.Blocks * 512
}
