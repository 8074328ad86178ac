package jail

import (
	"bytes"
	"runtime"
	"strconv"
	"time"
)

// memoryWatch bounds what a command and all its processes use, where no cgroup does.
//
// It adds up what the kernel says of each process. That is quick, and more than what
// is really used, because what two processes share is counted twice. Only when the
// sum is above the limit does it ask for the proportional sizes, which takes the
// kernel long. Not counted are the pages of files, which the kernel can drop, files
// in the scratch space, which has a limit of its own, and the buffers of pipes and
// sockets.
type memoryWatch struct {
	proc  int
	limit int64
	// peak is the most that was seen.
	peak int64
}

const (
	// memoryEvery is how late we may be at the end; memoryRarely, in any case.
	memoryEvery  = 4 * time.Millisecond
	memoryRarely = 100 * time.Millisecond
	// fillRate is how many bytes one processor fills in a second, at most.
	fillRate = 4 << 30
	// exactPause is for how long nobody looks after the kernel was asked for
	// proportional sizes, as a multiple of what that took.
	exactPause = 4
)

// look says whether the limit is passed, and when to look again: not before it could
// be, with all processors at work on it.
func (w *memoryWatch) look() (over bool, next time.Duration) {
	used := sumMemory(w.proc, quickMemory)
	pause := time.Duration(0)
	if used > w.limit {
		began := time.Now()
		used = sumMemory(w.proc, proportionalMemory)
		pause = exactPause * time.Since(began)
	}
	if w.peak = max(w.peak, used); used > w.limit {
		return true, 0
	}
	next = time.Duration(float64(w.limit-used) / fillRate / float64(runtime.NumCPU()) * float64(time.Second))
	return false, max(memoryEvery, pause, min(next, memoryRarely))
}

// process is what is known of one when its memory is added up.
type process struct {
	parent     string
	size, used int64 // of its addresses, and of its memory
	// waiting is how many children of vfork it can still have; -1 is unknown.
	waiting int
}

// sumMemory adds up what processes use. The first is the init, and a copy of the Runner
// until it is: what that has is not the command's.
//
// A process that waits in vfork and its child are one in memory, and the kernel shows
// it with both. Not to count it twice, a child that looks like its parent is left out,
// one for each thread of the parent that may be waiting. This cannot be abused: for each
// thread that really waits there is such a child.
func sumMemory(directory int, measure func(proc int, thread string, status []byte) int64) (sum int64) {
	all := map[string]*process{}
	eachProcess(directory, func(proc int, pid string) {
		if pid == "1" {
			return
		}
		thread, status := liveThread(proc, pid)
		if thread == "" {
			return // it has ended
		}
		p := &process{parent: string(field(status, "PPid:")), size: numberIn(status, "VmSize:"), used: measure(proc, thread, status), waiting: -1}
		sum += p.used
		all[pid] = p
	})
	for _, child := range all {
		parent := all[child.parent]
		if parent == nil || child.size != parent.size || max(child.used-parent.used, parent.used-child.used) > alikeSlack {
			continue
		}
		if parent.waiting < 0 {
			parent.waiting = blockedThreads(directory, child.parent)
		}
		if parent.waiting > 0 {
			parent.waiting--
			sum -= child.used
		}
	}
	return sum
}

// alikeSlack is by how much one memory may seem to differ when it is looked at twice.
const alikeSlack = 1 << 20

// quickMemory is an upper bound of what one process uses, of which it may share a part
// with others.
func quickMemory(_ int, _ string, status []byte) int64 {
	var kilobytes int64
	for _, label := range []string{"RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:", "HugetlbPages:"} {
		kilobytes += numberIn(status, label)
	}
	return kilobytes << 10
}

// proportionalMemory is the part of one process in what it uses. Page tables are its
// own.
func proportionalMemory(proc int, thread string, status []byte) int64 {
	rollup := readAt(proc, thread+"/smaps_rollup")
	if rollup == nil {
		return quickMemory(proc, thread, status)
	}
	var kilobytes int64
	for _, label := range []string{"Pss_Anon:", "Pss_Shmem:", "SwapPss:", "Shared_Hugetlb:", "Private_Hugetlb:"} {
		kilobytes += numberIn(rollup, label)
	}
	return (kilobytes + numberIn(status, "VmPTE:")) << 10
}

// liveThread gives a thread that has the memory of a process, and what the kernel says
// of it. The first one may have ended, and then shows none.
func liveThread(proc int, pid string) (found string, status []byte) {
	status = readAt(proc, pid+"/status")
	if numberIn(status, "VmSize:") > 0 {
		return pid, status
	}
	eachThreadOf(proc, pid, func(thread string) {
		if found != "" {
			return
		}
		if s := readAt(proc, thread+"/status"); numberIn(s, "VmSize:") > 0 {
			found, status = thread, s
		}
	})
	return found, status
}

// blockedThreads counts those that nothing but their end can interrupt, as in vfork.
func blockedThreads(directory int, pid string) (n int) {
	eachThreadOf(directory, pid, func(thread string) {
		if bytes.HasPrefix(field(readAt(directory, thread+"/status"), "State:"), []byte("D")) {
			n++
		}
	})
	return n
}

// field gives the first word behind a label that begins a line.
func field(data []byte, label string) []byte {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(label)); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				return fields[0]
			}
			return nil
		}
	}
	return nil
}

func numberIn(data []byte, label string) int64 {
	n, err := strconv.ParseInt(string(field(data, label)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
