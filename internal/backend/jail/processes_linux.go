package jail

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// processes are those of one command, with the init.
type processes struct {
	proc int // a directory like /proc
	// init is the pid of the init if proc is the host's, which shows other processes too;
	// 0 if proc shows only those of the command.
	init int
}

// childrenList has the numbers of the children of a thread.
const childrenList = "/proc/thread-self/children"

// first is the pid of the init.
func (p processes) first() string {
	if p.init == 0 {
		return "1"
	}
	return strconv.Itoa(p.init)
}

// each calls f for each process, with the directory in which its number is a name.
func (p processes) each(f func(proc int, pid string)) {
	if p.init == 0 {
		eachNumber(p.proc, f)
		return
	}
	seen := map[string]bool{}
	for queue := []string{p.first()}; len(queue) > 0; {
		pid := queue[0]
		queue = queue[1:]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		f(p.proc, pid)
		eachThreadOf(p.proc, pid, func(thread string) {
			queue = append(queue, strings.Fields(string(readAt(p.proc, thread+"/children")))...)
		})
	}
}

// eachNumber calls f for each process of a directory like /proc.
func eachNumber(directory int, f func(proc int, pid string)) {
	fd, err := unix.Openat(directory, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	dir := os.NewFile(uintptr(fd), "proc")
	defer func() { _ = dir.Close() }() // opened for reading only
	names, _ := dir.Readdirnames(-1)   // an incomplete list is fine
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			f(fd, name)
		}
	}
}

// threads counts all threads, without the init's. A process that has ended, and that nobody has
// waited for yet, has none.
func (p processes) threads() (n int) {
	p.each(func(proc int, pid string) {
		if pid != p.first() && !bytes.HasPrefix(field(readAt(proc, pid+"/status"), "State:"), []byte("Z")) {
			n += len(namesIn(proc, pid+"/task"))
		}
	})
	return n
}

// has reports whether a process or thread belongs to the command. The init does not.
func (p processes) has(pid int) bool {
	for seen := []int{}; pid > 1 && !slices.Contains(seen, pid); {
		seen = append(seen, pid)
		status := readAt(p.proc, strconv.Itoa(pid)+"/status")
		parent := int(numberIn(status, "PPid:"))
		if parent == p.init {
			return true
		}
		pid = parent
	}
	return false
}

// otherTasks has the number of processes and threads of users, as it was when it was first
// asked for: counting takes long.
type otherTasks struct {
	mu    sync.Mutex
	count map[int]int
}

func (o *otherTasks) of(uid int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, known := o.count[uid]
	if !known {
		n = userTasks(uid)
		if o.count == nil {
			o.count = map[int]int{}
		}
		o.count[uid] = n
	}
	return n
}

// userTasks counts the processes and threads of a user.
func userTasks(uid int) (n int) {
	proc, err := unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(proc)
	eachNumber(proc, func(proc int, pid string) {
		status := readAt(proc, pid+"/status")
		if int(numberIn(status, "Uid:")) == uid {
			n += int(numberIn(status, "Threads:"))
		}
	})
	return n
}
