package jail

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// soonest is the earliest that the command can use up its CPU time, if it had all CPUs
// to itself.
func (w *watcher) soonest(used time.Duration) time.Duration {
	left := w.guest.job.Limits.CPUTime - used
	return max(cpuEvery, left/time.Duration(runtime.NumCPU()))
}

// cpuTime adds up the CPU time of processes. Each includes the children that it has waited
// for, and the init waits for orphans. The time of a child is lost if its parent ignores
// SIGCHLD, unless a cgroup counts it.
func cpuTime(p processes) time.Duration {
	var ticks uint64
	p.each(func(proc int, pid string) { ticks += processTicks(proc, pid) })
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// ticksPerSecond is USER_HZ, which is the same on every Linux that Go runs on.
const ticksPerSecond = 100

func processTicks(proc int, pid string) uint64 {
	fd, err := unix.Openat(proc, pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0 // it has ended, and its time counts for its parent
	}
	file := os.NewFile(uintptr(fd), "stat")
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return 0
	}
	// The program's name may contain any byte, also a parenthesis.
	_, rest, _ := bytes.Cut(data[max(0, bytes.LastIndexByte(data, ')')):], []byte(" "))
	fields := bytes.Fields(rest)
	const firstTime = 14 - 3 // utime, stime, cutime and cstime; the first two fields are cut off
	var sum uint64
	for i := firstTime; i < firstTime+4 && i < len(fields); i++ {
		n, err := strconv.ParseUint(string(fields[i]), 10, 63)
		if err == nil {
			sum += n
		}
	}
	return sum
}
