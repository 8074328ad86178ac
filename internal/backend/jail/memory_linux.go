package jail

import (
	"bytes"
	"runtime"
	"strconv"
	"time"
)

// memoryWatch limits the memory of a command and all its processes where no cgroup does.
//
// It adds up the sizes in /proc/<pid>/status. That is fast, and an upper bound, because
// memory that two processes share is counted twice. Only if the sum exceeds the limit
// does it read the proportional sizes, which takes the kernel longer. It does not count
// pages of files, which the kernel can drop, files in the scratch space, which has its
// own limit, or the buffers of pipes and sockets.
type memoryWatch struct {
	quick, exact func() int64 // an upper bound of what is used, and what is used
	limit        int64
	// peak is the largest use that was measured.
	peak int64
}

const (
	// memoryEvery is the shortest pause between two measurements, near the limit;
	// memoryRarely is the longest.
	memoryEvery  = 4 * time.Millisecond
	memoryRarely = 100 * time.Millisecond
	// fillRate is an upper bound of the bytes that one CPU fills in a second.
	fillRate = 4 << 30
	// exactPause is the pause after reading proportional sizes, as a multiple of the
	// time that this took.
	exactPause = 4
)

// measure reports whether the limit is exceeded, and when to measure again: not before
// all CPUs together could fill the rest.
func (w *memoryWatch) measure() (over bool, next time.Duration) {
	used := w.quick()
	pause := time.Duration(0)
	if used > w.limit {
		began := time.Now()
		used = w.exact()
		pause = exactPause * time.Since(began)
	}
	if w.peak = max(w.peak, used); used > w.limit {
		return true, 0
	}
	next = time.Duration(float64(w.limit-used) / fillRate / float64(runtime.NumCPU()) * float64(time.Second))
	return false, max(memoryEvery, pause, min(next, memoryRarely))
}

// quickMemory is an upper bound of the memory of all processes, and exactMemory what they use.
func (p *sandbox) quickMemory() int64 {
	if p.nested != nil {
		return p.gvisorMemory()
	}
	return sumMemory(p.processes(), quickMemory)
}

func (p *sandbox) exactMemory() int64 {
	if p.nested != nil {
		return p.gvisorMemory()
	}
	return sumMemory(p.processes(), proportionalMemory)
}

// process is one process whose memory is added up.
type process struct {
	parent     string
	size, used int64 // its address space, and the memory it uses
	// waiting is how many more vfork children it can have; -1 means unknown.
	waiting int
}

// sumMemory adds up the memory of all processes but the first. That is the init, and
// before it execs a copy of the Runner, whose memory is not the command's.
//
// A process that waits in vfork shares its memory with its child, and the kernel shows it
// for both. To count it once, sumMemory leaves out one child that looks like its parent
// for each thread of the parent that may be waiting. A guest gains nothing by this: each
// thread that really waits has such a child.
func sumMemory(p processes, measure func(proc int, thread string, status []byte) int64) (sum int64) {
	all := map[string]*process{}
	first := p.first()
	p.each(func(proc int, pid string) {
		if pid == first {
			return
		}
		thread, status := liveThread(proc, pid)
		if thread == "" {
			return // the process has ended
		}
		one := &process{parent: string(field(status, "PPid:")), size: numberIn(status, "VmSize:"), used: measure(proc, thread, status), waiting: -1}
		sum += one.used
		all[pid] = one
	})
	for _, child := range all {
		parent := all[child.parent]
		if parent == nil || child.size != parent.size || max(child.used-parent.used, parent.used-child.used) > alikeSlack {
			continue
		}
		if parent.waiting < 0 {
			parent.waiting = blockedThreads(p.proc, child.parent)
		}
		if parent.waiting > 0 {
			parent.waiting--
			sum -= child.used
		}
	}
	return sum
}

// alikeSlack is by how much two measurements of the same memory may differ.
const alikeSlack = 1 << 20

// quickMemory is an upper bound of what one process uses. It includes memory that the
// process shares with others.
func quickMemory(_ int, _ string, status []byte) int64 {
	var kilobytes int64
	for _, label := range []string{"RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:", "HugetlbPages:"} {
		kilobytes += numberIn(status, label)
	}
	return kilobytes << 10
}

// proportionalMemory is what one process uses, with its share of shared memory. Page
// tables are not shared.
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

// liveThread finds a thread that still shows the memory of its process, and returns its
// status file. The first thread may have ended, and then shows none.
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

// blockedThreads counts the threads in uninterruptible sleep, as in vfork.
func blockedThreads(directory int, pid string) (n int) {
	eachThreadOf(directory, pid, func(thread string) {
		if bytes.HasPrefix(field(readAt(directory, thread+"/status"), "State:"), []byte("D")) {
			n++
		}
	})
	return n
}

// field returns the first word after a label at the beginning of a line.
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
