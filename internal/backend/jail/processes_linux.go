package jail

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

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

// allTasks returns the number of processes and threads of the host.
func allTasks() (n int) {
	load, _ := os.ReadFile("/proc/loadavg") // empty without it, and then othersRoom must do
	fields := bytes.Fields(load)            // three averages, running/all, and the last number
	if len(fields) >= 4 {
		_, all, _ := bytes.Cut(fields[3], []byte("/"))
		n, _ = strconv.Atoi(string(all)) // the kernel writes a number
	}
	return n
}
