package jail

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
)

// diskWatch bounds what a command adds to directories of the host. The kernel has
// quotas for users only.
//
// A walk adds up the files that were made since the start, also those that are
// deleted and still open: they are the command's, or of somebody who writes there at
// the same time, which nothing tells apart. That alone is enough to end a command.
//
// Some space a walk cannot add up: of a file that was there before and has changed,
// it does not know by how much; of one that is deleted and mapped, or on its way
// through a socket, it does not know the size; and it may not come to an end. Then
// it takes two other things together: by how much the file systems have shrunk, and
// how much the command has written. The first alone may be a neighbor's doing.
type diskWatch struct {
	roots []string
	limit int64
	files int64
	// began is the start, and earliest what a file that is made then may have for a time.
	began, earliest time.Time
	devices         map[uint64]fileSystem
	// accounted says that the kernel counts what is written to all of them.
	accounted bool
	proc      int // the directory of the command's processes
	scratch   int // its scratch space, which has a size of its own
	// shrunk is how much free space the file systems have lost, and how many inodes.
	shrunk func() (space, inodes int64)
	// wrote is the most that the command is known to have written.
	wrote int64

	walking    bool
	walked     chan answer
	most       time.Duration // for the next walk
	soon, next time.Time     // of walks: with a suspicion not before, without one then
	over       exceeded
}

// exceeded is one of the two limits, or none.
type exceeded string

const (
	overSpace exceeded = "space"
	overFiles exceeded = "files"
)

func (l exceeded) reason() reason {
	if l == overFiles {
		return killedFiles
	}
	return killedDisk
}

const (
	// A walk may take walkMost, and then there is none for twenty times as long.
	// Where it does not come to an end and there is a suspicion, the next may take
	// twice as long, up to walkLongest, and begins sooner.
	walkMost           = 250 * time.Millisecond
	walkLongest        = 4 * time.Second
	walkLast           = 5 * time.Millisecond
	walkLeast          = 1000 // entries, however long that takes
	walkPause          = 20
	walkPauseSuspicion = 4
	walkEvery          = 2 * time.Second
	walkDepth          = 100
	// entrySpace is what a file costs even when it is empty: its inode.
	entrySpace = 256
)

// newDiskWatch is called before the command starts, which may be over soon.
func newDiskWatch(roots []string, limits policy.Limits, proc, scratch int) *diskWatch {
	w := &diskWatch{
		roots: roots, limit: int64(limits.Disk), files: int64(limits.Files), proc: proc, scratch: scratch, began: time.Now(), earliest: fileTime(),
		devices: map[uint64]fileSystem{}, accounted: countsWrites(), walked: make(chan answer, 1), most: walkMost,
	}
	for _, root := range roots {
		var stat unix.Stat_t
		if unix.Stat(root, &stat) != nil {
			continue
		}
		system := fileSystem{path: root}
		system.space, system.inodes, system.kind = free(root)
		w.devices[stat.Dev] = system
		w.accounted = w.accounted && accountedKinds[system.kind]
	}
	w.shrunk = func() (space, inodes int64) {
		for _, before := range w.devices {
			s, i, _ := free(before.path)
			space += max(0, before.space-s)
			inodes += max(0, before.inodes-i)
		}
		return space, inodes
	}
	return w
}

// fileTime is the earliest time that a file which is made now can have. The kernel takes
// it from a clock that ticks a few hundred times a second, or, since Linux 6.13 and if
// somebody could tell the difference, from a better one.
func fileTime() time.Time {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) // every Linux has it
	return time.Unix(t.Unix())
}

// fileSystem is one of those with a root on it, as it was at the start.
type fileSystem struct {
	path          string
	space, inodes int64 // free
	kind          int64
}

func free(path string) (space, inodes, kind int64) {
	var stat unix.Statfs_t
	if unix.Statfs(path, &stat) != nil {
		return 0, 0, 0
	}
	return int64(stat.Bfree) * stat.Bsize, int64(stat.Ffree), stat.Type
}

// suspicious says that more than half of a limit is gone, whoever took it.
func (w *diskWatch) suspicious() bool {
	space, inodes := w.shrunk()
	return space+inodes*entrySpace > w.limit/2 || inodes > w.files/2
}

// look begins a walk if one is due. Its answer comes over walked.
func (w *diskWatch) look() {
	if len(w.roots) == 0 || w.over != "" || w.walking {
		return
	}
	if time.Now().After(w.next) || w.suspicious() && time.Now().After(w.soon) {
		w.walking = true
		go func() { w.walked <- w.walk(w.most) }()
	}
}

// heard takes the answer of a walk.
func (w *diskWatch) heard(a answer) {
	w.walking = false
	w.wrote = max(w.wrote, a.wrote)
	if w.over == "" {
		w.over = a.over
	}
	pause := walkPause * a.took
	w.most = walkMost
	if a.timedOut && (a.near || w.suspicious()) {
		pause = walkPauseSuspicion * a.took
		w.most = min(2*a.took, walkLongest)
	}
	w.soon = time.Now().Add(pause)
	w.next = time.Now().Add(max(walkEvery, pause))
}

// await returns when no walk is under way: it uses what is closed in the end.
func (w *diskWatch) await() {
	if w.walking {
		w.heard(<-w.walked)
	}
}

// last is the look after the command's end, when nothing changes any more and it is
// known how much was written. Without a suspicion it is a short one: most commands
// are short, too.
func (w *diskWatch) last(wrote int64) {
	w.await()
	if len(w.roots) == 0 || w.over != "" {
		return
	}
	w.wrote = max(w.wrote, wrote)
	most := min(walkMost, max(walkLast, time.Since(w.began)/10))
	if w.suspicious() {
		most = walkMost
	}
	for a := (answer{timedOut: true, near: true}); a.timedOut && a.near && w.over == "" && most <= walkLongest; most *= 2 {
		a = w.walk(most)
		w.over = a.over
	}
}

type answer struct {
	over     exceeded
	wrote    int64
	took     time.Duration
	timedOut bool
	near     bool // half of a limit was found
}

func (w *diskWatch) walk(most time.Duration) answer {
	began := time.Now()
	c := &count{watch: w, deadline: began.Add(most), seen: map[[2]uint64]bool{}}
	for _, root := range w.roots {
		c.entry(unix.AT_FDCWD, root, 0)
	}
	hidden := c.deleted()
	a := answer{wrote: max(w.wrote, written(w.proc)), took: time.Since(began), timedOut: c.timedOut}
	a.near = c.fresh > w.limit/2 || c.entries > w.files/2
	switch {
	case c.entries > w.files:
		a.over = overFiles
	case c.fresh > w.limit, c.fresh+c.early > w.limit && w.accounted && a.wrote > w.limit:
		a.over = overSpace
	case c.timedOut || c.evasive || hidden || c.fresh+c.changed > w.limit:
		space, _ := w.shrunk()
		// A tree that hides from the walk on purpose needs no other evidence.
		theirs := !w.accounted || c.evasive || a.wrote+c.touched*attributeSpace > w.limit
		if space > w.limit && theirs {
			a.over = overSpace
		}
	}
	return a
}

// attributeSpace is what a change of a file may take beside its data: the kernel
// does not count attributes and directories as written.
const attributeSpace = 4096

// count is one walk. It goes from directory to directory by descriptors and follows
// no symlink, whatever the command does to the tree meanwhile.
type count struct {
	watch    *diskWatch
	deadline time.Time
	seen     map[[2]uint64]bool
	// The space of files that were made since the start, and of older ones that
	// have changed.
	fresh, changed int64
	// early is the part of changed in files that were made at the start or just before.
	// Most are the command's; of a large one that is not, what the command wrote tells.
	early int64
	// entries are the names of files that were made, and further names of files that
	// have changed; touched are all files that have.
	entries, touched int64
	looked           int // entries
	timedOut         bool
	// evasive says that part of the tree is too deep, or was closed to us.
	evasive bool
}

func (c *count) entry(directory int, name string, depth int) {
	var stat unix.Statx_t
	if unix.Statx(directory, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil {
		return // it is gone
	}
	c.add(stat)
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR || c.timedOut {
		return
	}
	fd, err := unix.Openat(directory, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP:
		return // it has been replaced
	case err != nil:
		// One that was closed before is closed to the command as well.
		c.evasive = c.evasive || !c.old(stat)
		return
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // it was read only
	if depth == walkDepth {
		c.evasive = true
		return
	}
	c.directory(file, depth)
}

func (c *count) directory(f *os.File, depth int) {
	for {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			c.entry(int(f.Fd()), name, depth+1)
		}
		c.looked += len(names)
		c.timedOut = c.timedOut || c.looked > walkLeast && time.Now().After(c.deadline)
		if err != nil || c.timedOut || c.fresh > c.watch.limit || c.entries > c.watch.files {
			return
		}
	}
}

// old says that a file has not changed since the start.
func (c *count) old(stat unix.Statx_t) bool {
	return timeOf(stat.Ctime).Before(c.watch.earliest)
}

// add counts the space of a file once, however many names it has, and every name.
func (c *count) add(stat unix.Statx_t) {
	if c.old(stat) {
		return
	}
	id := fileID(stat)
	made := stat.Mask&unix.STATX_BTIME != 0 && !timeOf(stat.Btime).Before(c.watch.earliest)
	early := made && !timeOf(stat.Btime).After(c.watch.began)
	if made || c.seen[id] {
		c.entries++
		c.fresh += entrySpace
	}
	if c.seen[id] {
		return
	}
	c.seen[id] = true
	c.touched++
	space := int64(stat.Blocks) * 512
	if made && !early {
		c.fresh += space
		return
	}
	c.changed += space
	if early {
		c.early += space
	}
}

// fileID tells a file from all others, by its device and inode.
func fileID(stat unix.Statx_t) [2]uint64 {
	return [2]uint64{unix.Mkdev(stat.Dev_major, stat.Dev_minor), stat.Ino}
}

func timeOf(t unix.StatxTimestamp) time.Time { return time.Unix(t.Sec, int64(t.Nsec)) }
