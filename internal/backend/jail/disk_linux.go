package jail

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// diskWatch bounds what a command adds to folders of the host. The kernel has
// quotas for users only.
//
// A walk adds up the space of files that were made since the start, also of those
// that are deleted and still open: that is the command's, or of somebody who writes
// there at the same time, which nothing tells apart. Of files that were there
// before, and have changed, it cannot tell by how much. There, and where it does
// not come to an end, it needs other evidence: by how much the file systems have
// shrunk. That costs nothing to ask, and also says when a walk is due.
type diskWatch struct {
	roots   []string
	limit   int64
	began   time.Time
	devices map[uint64]int64 // the free space of each, at the start
	proc    int              // the folder of the command's processes
	shrunk  func() int64

	walking    bool
	walked     chan answer
	soon, next time.Time // of walks: with a suspicion not before, without one then
	over       bool
}

const (
	// clockSlack is how late the times of files may be: the kernel takes them from
	// a clock that ticks slower than ours.
	clockSlack = 20 * time.Millisecond
	// A walk may take so long, and then there is none for twenty times as long.
	walkMost  = 250 * time.Millisecond
	walkLast  = 5 * time.Millisecond
	walkPause = 20
	walkEvery = 2 * time.Second
	walkDepth = 100
)

func newDiskWatch(roots []string, limit int64, proc int) *diskWatch {
	w := &diskWatch{
		roots: roots, limit: limit, proc: proc, began: time.Now(),
		devices: map[uint64]int64{}, walked: make(chan answer, 1),
	}
	free := map[uint64]string{} // a folder of each device
	for _, root := range roots {
		var stat unix.Stat_t
		if unix.Stat(root, &stat) == nil {
			free[stat.Dev], w.devices[stat.Dev] = root, freeSpace(root)
		}
	}
	w.shrunk = func() (sum int64) {
		for device, before := range w.devices {
			sum += max(0, before-freeSpace(free[device]))
		}
		return sum
	}
	return w
}

func freeSpace(root string) int64 {
	var stat unix.Statfs_t
	if unix.Statfs(root, &stat) != nil {
		return 0
	}
	return int64(stat.Bfree) * stat.Bsize
}

// look begins a walk if one is due. Its answer comes over walked.
func (w *diskWatch) look() {
	if len(w.roots) == 0 || w.over || w.walking {
		return
	}
	if time.Now().After(w.next) || w.shrunk() > w.limit/2 && time.Now().After(w.soon) {
		w.walking = true
		go func() { w.walked <- w.walk(walkMost) }()
	}
}

// heard takes the answer of a walk.
func (w *diskWatch) heard(a answer) {
	w.walking = false
	w.over = w.over || a.over
	w.soon = time.Now().Add(walkPause * a.took)
	w.next = time.Now().Add(max(walkEvery, walkPause*a.took))
}

// await returns when no walk is under way: it uses what is closed in the end.
func (w *diskWatch) await() {
	if w.walking {
		w.heard(<-w.walked)
	}
}

// last is the look after the command's end, when nothing changes any more. Without
// a suspicion it is a short one: most commands are short, too.
func (w *diskWatch) last() {
	w.await()
	if len(w.roots) == 0 || w.over {
		return
	}
	most := walkLast
	if w.shrunk() > w.limit/2 {
		most = walkMost
	}
	w.over = w.walk(most).over
}

type answer struct {
	over bool
	took time.Duration
}

func (w *diskWatch) walk(most time.Duration) answer {
	began := time.Now()
	c := &count{watch: w, deadline: began.Add(most), seen: map[[2]uint64]bool{}}
	for _, root := range w.roots {
		c.entry(unix.AT_FDCWD, root, 0)
	}
	c.deleted()
	over := c.fresh > w.limit || (c.incomplete || c.fresh+c.changed > w.limit) && w.shrunk() > w.limit
	return answer{over: over, took: time.Since(began)}
}

// count is one walk. It goes from folder to folder by descriptors and follows no
// symlink, whatever the command does to the tree meanwhile.
type count struct {
	watch    *diskWatch
	deadline time.Time
	seen     map[[2]uint64]bool
	// The space of files that were made since the start, and of older ones that
	// have changed.
	fresh, changed int64
	incomplete     bool
}

func (c *count) entry(folder int, name string, depth int) {
	var stat unix.Statx_t
	if unix.Statx(folder, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil {
		return // it is gone
	}
	c.add(stat)
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR || c.incomplete {
		return
	}
	fd, err := unix.Openat(folder, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP:
		return // it has been replaced
	case err != nil:
		c.incomplete = true
		return
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // it was read only
	if depth == walkDepth {
		c.incomplete = true
		return
	}
	c.folder(file, depth)
}

func (c *count) folder(f *os.File, depth int) {
	for {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			c.entry(int(f.Fd()), name, depth+1)
		}
		if time.Now().After(c.deadline) {
			c.incomplete = true
		}
		if err != nil || c.incomplete || c.fresh > c.watch.limit {
			return
		}
	}
}

// add counts a file once, however many names it has.
func (c *count) add(stat unix.Statx_t) {
	id := [2]uint64{unix.Mkdev(stat.Dev_major, stat.Dev_minor), stat.Ino}
	if c.seen[id] || timeOf(stat.Ctime).Before(c.watch.began.Add(-clockSlack)) {
		return
	}
	c.seen[id] = true
	if stat.Mask&unix.STATX_BTIME != 0 && timeOf(stat.Btime).After(c.watch.began) {
		c.fresh += int64(stat.Blocks) * 512
	} else {
		c.changed += int64(stat.Blocks) * 512
	}
}

func timeOf(t unix.StatxTimestamp) time.Time { return time.Unix(t.Sec, int64(t.Nsec)) }

// deleted counts the files that have no name any more, and that a process of the
// command has open.
func (c *count) deleted() {
	eachProcess(c.watch.proc, func(proc int, pid string) {
		fd, err := unix.Openat(proc, pid+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return // it has ended, or is ours
		}
		folder := os.NewFile(uintptr(fd), "fd")
		defer func() { _ = folder.Close() }() // it was read only
		names, _ := folder.Readdirnames(-1)   // as far as it goes
		for _, name := range names {
			var stat unix.Statx_t
			if unix.Statx(fd, name, 0, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil || stat.Nlink > 0 || stat.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if _, ours := c.watch.devices[unix.Mkdev(stat.Dev_major, stat.Dev_minor)]; ours {
				c.add(stat)
			}
		}
	})
}
