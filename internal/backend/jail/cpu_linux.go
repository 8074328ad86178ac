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

// soonest is when the command can have used up its CPU time at the
// earliest, with all processors to itself.
func (w *watcher) soonest(used time.Duration) time.Duration {
	left := w.guest.job.Limits.CPUTime.Std() - used
	return max(cpuEvery, left/time.Duration(runtime.NumCPU()))
}

// cpuTime adds up what the processes in a directory of them have used: each for
// itself, and for those of its children that it has waited for. A process that
// nobody waits for is waited for by the init, which is there too. (One whose
// parent asked not to be told of its end is lost, unless there is a cgroup that
// counts.)
func cpuTime(directory int) time.Duration {
	var ticks uint64
	eachProcess(directory, func(proc int, pid string) { ticks += processTicks(proc, pid) })
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// eachProcess goes through a directory like /proc.
func eachProcess(directory int, f func(proc int, pid string)) {
	fd, err := unix.Openat(directory, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	dir := os.NewFile(uintptr(fd), "proc")
	defer func() { _ = dir.Close() }() // it was read only
	names, _ := dir.Readdirnames(-1)   // as far as it goes
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			f(fd, name)
		}
	}
}

// ticksPerSecond is USER_HZ, which is the same on every Linux that Go runs on.
const ticksPerSecond = 100

func processTicks(proc int, pid string) uint64 {
	fd, err := unix.Openat(proc, pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0 // it has ended, and its parent has its time
	}
	file := os.NewFile(uintptr(fd), "stat")
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return 0
	}
	// A program's name may have anything in it, a parenthesis too.
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
