package jail

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
)

// diskWatch limits what a command adds to directories of the host. The kernel only has
// quotas for users.
//
// A walk adds up the files that were created since the start, including those that are
// deleted and still open. They belong to the command, or to another process that writes
// there at the same time; nothing tells the two apart. If their sum exceeds the limit,
// the command is killed.
//
// A walk cannot measure everything. It does not know how much an older file has grown,
// nor the size of a file that is deleted and mapped, or in transit through a socket, and
// it may run out of time. In these cases two facts must come together: the file systems
// have lost more free space than the limit, and the command has written that much. The
// first alone may be caused by another process.
type diskWatch struct {
	roots []string
	limit int64
	files int64
	// began is the time of the start, and earliest the oldest timestamp that a file
	// created at that time can have.
	began, earliest time.Time
	devices         map[uint64]fileSystem
	// accounted says that the kernel counts the bytes written to all these file systems.
	accounted bool
	processes processes
	scratch   int // the scratch space, which has its own limit; -1 if it is one of the roots
	// shrunk returns how much free space and how many free inodes the file systems lost.
	shrunk func() (space, inodes int64)
	// scan walks for at most this time.
	scan func(most time.Duration) answer
	// wrote is the number of bytes that the command is known to have written.
	wrote int64

	walking    bool
	walked     chan answer
	budget     time.Duration // of the next walk
	soon, next time.Time     // when the next walk may start: on suspicion, and in any case
	over       exceeded
}

// exceeded names the limit that was passed, or is empty.
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
	// A walk may take walkBudget; the pause after it is walkPause times as long. If it
	// ran out of time on suspicion, the next one may take twice as long, up to
	// walkMaxBudget, and begins sooner.
	walkBudget          = 250 * time.Millisecond
	walkMaxBudget       = 4 * time.Second
	walkFinalBudget     = 5 * time.Millisecond
	walkMinEntries      = 1000 // read these even when the time is up
	walkPause           = 20
	walkPauseSuspicious = 4
	walkEvery           = 2 * time.Second
	walkDepth           = 100
	// entrySpace is the size of an inode, which even an empty file takes.
	entrySpace = 256
)

// newDiskWatch records the state before the command starts.
func newDiskWatch(roots []string, limits policy.Limits, p processes, scratch int) *diskWatch {
	w := &diskWatch{
		roots: roots, limit: int64(limits.Disk), files: int64(limits.Files), processes: p, scratch: scratch, began: time.Now(), earliest: fileTime(),
		devices: map[uint64]fileSystem{}, accounted: kernelCountsWrites(), walked: make(chan answer, 1), budget: walkBudget,
	}
	for _, root := range roots {
		var stat unix.Stat_t
		if unix.Stat(root, &stat) != nil {
			continue
		}
		system := fileSystem{path: root}
		system.space, system.inodes, system.kind = free(root)
		w.devices[stat.Dev] = system
		w.accounted = w.accounted && accountedFileSystems[system.kind]
	}
	w.shrunk = func() (space, inodes int64) {
		for _, before := range w.devices {
			s, i, _ := free(before.path)
			space += max(0, before.space-s)
			inodes += max(0, before.inodes-i)
		}
		return space, inodes
	}
	w.scan = w.walk
	return w
}

// newScratchWatch watches the private directory of a command, which has its own limits. It
// returns nil for a scratch space that is a file system: that has a size.
func newScratchWatch(p *sandbox, l policy.Limits) *diskWatch {
	if p.private == nil {
		return nil
	}
	l.Disk, l.Files = l.Scratch, scratchFiles(l)
	return newDiskWatch([]string{p.private.path}, l, p.processes(), -1)
}

// fileTime is the oldest timestamp that a file created now can have. The kernel takes
// timestamps from a clock that ticks a few hundred times a second. Since Linux 6.13 it
// takes a finer clock if the difference could be observed.
func fileTime() time.Time {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) // every Linux has it
	return time.Unix(t.Unix())
}

// fileSystem is the state of a file system with a watched root, at the start.
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

// suspicious reports whether the file systems lost more than half of a limit, to this
// command or to others.
func (w *diskWatch) suspicious() bool {
	space, inodes := w.shrunk()
	return space+inodes*entrySpace > w.limit/2 || inodes > w.files/2
}

// startWalk begins a walk if one is due. Its answer arrives on walked.
func (w *diskWatch) startWalk() {
	if len(w.roots) == 0 || w.over != "" || w.walking {
		return
	}
	if time.Now().After(w.next) || w.suspicious() && time.Now().After(w.soon) {
		w.walking = true
		go func() { w.walked <- w.scan(w.budget) }()
	}
}

// finishWalk takes the answer of a walk and schedules the next one.
func (w *diskWatch) finishWalk(a answer) {
	w.walking = false
	w.wrote = max(w.wrote, a.wrote)
	if w.over == "" {
		w.over = a.over
	}
	pause := walkPause * a.took
	w.budget = walkBudget
	if w.needsMore(a) {
		pause = walkPauseSuspicious * a.took
		w.budget = min(2*a.took, walkMaxBudget)
	}
	w.soon = time.Now().Add(pause)
	w.next = time.Now().Add(max(walkEvery, pause))
}

// needsMore reports whether a walk ran out of time although a limit may have been passed.
func (w *diskWatch) needsMore(a answer) bool { return a.timedOut && (a.near || w.suspicious()) }

// waitForWalk returns when no walk is running. A walk uses descriptors that tearDown
// closes.
func (w *diskWatch) waitForWalk() {
	if w.walking {
		w.finishWalk(<-w.walked)
	}
}

// finalWalk checks once more after the command has ended, when nothing changes any more
// and the number of written bytes is known. Without suspicion it takes at most a tenth of
// the command's own time, because most commands are short.
func (w *diskWatch) finalWalk(wrote int64) {
	w.waitForWalk()
	if len(w.roots) == 0 || w.over != "" {
		return
	}
	w.wrote = max(w.wrote, wrote)
	usual := time.Since(w.began) / 10
	most := min(walkBudget, max(walkFinalBudget, usual))
	if w.suspicious() {
		most = walkBudget
	}
	for ; most <= walkMaxBudget; most *= 2 {
		a := w.scan(most)
		w.over = a.over
		// On a busy host the walk may have had little of its time.
		again := w.needsMore(a) || a.timedOut && 2*most <= usual
		if w.over != "" || !again {
			return
		}
	}
}

type answer struct {
	over     exceeded
	wrote    int64
	took     time.Duration
	timedOut bool
	near     bool // more than half of a limit was found
}

func (w *diskWatch) walk(most time.Duration) answer {
	began := time.Now()
	c := &count{watch: w, deadline: began.Add(most), counted: map[[2]uint64]bool{}}
	for _, root := range w.roots {
		c.entry(unix.AT_FDCWD, root, 0)
	}
	hidden := c.deleted()
	a := answer{wrote: max(w.wrote, written(w.processes)), took: time.Since(began), timedOut: c.timedOut}
	a.near = c.fresh > w.limit/2 || c.entries > w.files/2
	switch {
	case c.entries > w.files:
		a.over = overFiles
	case c.fresh > w.limit, c.fresh+c.early > w.limit && w.accounted && a.wrote > w.limit:
		a.over = overSpace
	case c.timedOut || c.evasive || hidden || c.fresh+c.changed > w.limit:
		space, _ := w.shrunk()
		// A tree that hides from the walk on purpose is evidence enough.
		theirs := !w.accounted || c.evasive || a.wrote+c.touched*attributeSpace > w.limit
		if space > w.limit && theirs {
			a.over = overSpace
		}
	}
	return a
}

// attributeSpace is the space that changing a file may take besides its data: the kernel
// does not count attributes and directories as written bytes.
const attributeSpace = 4096

// count is one walk. It opens each directory relative to its parent's descriptor and
// follows no symlink, whatever the command does to the tree meanwhile.
type count struct {
	watch    *diskWatch
	deadline time.Time
	counted  map[[2]uint64]bool
	// The space of files that were created since the start, and of older ones that
	// have changed.
	fresh, changed int64
	// early is the part of changed in files that were created at the start or just
	// before it. Most belong to the command. The number of bytes that the command wrote
	// shows if a large one does not.
	early int64
	// entries counts the names of created files and the further names of changed files;
	// touched counts all changed files.
	entries, touched int64
	looked           int // entries read so far
	timedOut         bool
	// evasive says that part of the tree is too deep, or was made unreadable.
	evasive bool
}

func (c *count) entry(directory int, name string, depth int) {
	var stat unix.Statx_t
	if unix.Statx(directory, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat) != nil {
		return // it was deleted
	}
	c.add(stat)
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR || c.timedOut {
		return
	}
	fd, err := unix.Openat(directory, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP:
		return // it was replaced
	case err != nil:
		// A directory that was unreadable before is unreadable to the command as well.
		c.evasive = c.evasive || !c.old(stat)
		return
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // opened for reading only
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
		c.timedOut = c.timedOut || c.looked > walkMinEntries && time.Now().After(c.deadline)
		if err != nil || c.timedOut || c.fresh > c.watch.limit || c.entries > c.watch.files {
			return
		}
	}
}

// old reports whether a file is unchanged since the start.
func (c *count) old(stat unix.Statx_t) bool {
	return timeOf(stat.Ctime).Before(c.watch.earliest)
}

// add counts the space of a file once, however many names it has, and each of its names.
func (c *count) add(stat unix.Statx_t) {
	if c.old(stat) {
		return
	}
	id := fileID(stat)
	made := stat.Mask&unix.STATX_BTIME != 0 && !timeOf(stat.Btime).Before(c.watch.earliest)
	early := made && !timeOf(stat.Btime).After(c.watch.began)
	if made || c.counted[id] {
		c.entries++
		c.fresh += entrySpace
	}
	if c.counted[id] {
		return
	}
	c.counted[id] = true
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

// fileID identifies a file by its device and inode.
func fileID(stat unix.Statx_t) [2]uint64 {
	return [2]uint64{unix.Mkdev(stat.Dev_major, stat.Dev_minor), stat.Ino}
}

func timeOf(t unix.StatxTimestamp) time.Time { return time.Unix(t.Sec, int64(t.Nsec)) }
