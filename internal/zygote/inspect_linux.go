package zygote

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/jail"
	"github.com/cordon-sandbox/cordon/policy"
)

// verify looks at the worker from outside, in the kernel's own words. A
// worker that says it is walled in and is not gets no guest.
func (w *Worker) verify() error {
	status, err := procStatus(w.PID)
	if err != nil {
		return fmt.Errorf("the worker cannot be inspected: %w", err)
	}
	p := w.zygote.config.Plan
	expect := map[string]string{}
	if p.Capabilities {
		for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
			expect[set] = "0000000000000000"
		}
	}
	if p.NoNewPrivs {
		expect["NoNewPrivs"] = "1"
	}
	if p.Seccomp != jail.SeccompOff {
		expect["Seccomp"] = "2"
	}
	uid, gid := strconv.Itoa(p.UID), strconv.Itoa(p.GID)
	expect["Uid"] = strings.Join([]string{uid, uid, uid, uid}, "\t")
	expect["Gid"] = strings.Join([]string{gid, gid, gid, gid}, "\t")
	for field, want := range expect {
		if got := status[field]; got != want {
			return fmt.Errorf("the worker's walls do not match the plan: %s is %q, not %q", field, got, want)
		}
	}
	// "NSpid: 4711 12 1": its pid in each namespace from ours inward.
	if p.Namespaces&jail.CloneNewPID != 0 {
		if pids := strings.Fields(status["NSpid"]); len(pids) != 3 || pids[2] != "1" {
			return fmt.Errorf("the worker's walls do not match the plan: NSpid is %q", status["NSpid"])
		}
	}
	return nil
}

// procStatus reads /proc/PID/status.
func procStatus(pid int) (map[string]string, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil, err
	}
	status := make(map[string]string, 64)
	for line := range bytes.Lines(data) {
		if field, value, ok := bytes.Cut(line, []byte(":")); ok {
			status[string(field)] = string(bytes.TrimSpace(value))
		}
	}
	return status, nil
}

// Baseline is what an interpreter takes before any guest.
type Baseline struct {
	AddressSpace, Data policy.Bytes
}

func baselineOf(pid int) (Baseline, error) {
	status, err := procStatus(pid)
	if err != nil {
		return Baseline{}, fmt.Errorf("the fork server cannot be inspected: %w", err)
	}
	size, err := kib(status["VmSize"])
	if err != nil {
		return Baseline{}, err
	}
	data, err := kib(status["VmData"])
	return Baseline{AddressSpace: size, Data: data}, err
}

func kib(field string) (policy.Bytes, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(field, " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc says %q where a size should be", field)
	}
	return policy.Bytes(n) * policy.KiB, nil
}

// cpuTime reads the processor clock of another process: one system call, in
// nanoseconds, and nothing that the process could falsify.
func cpuTime(pid int) (time.Duration, error) {
	const processClock = 2 // CPUCLOCK_SCHED of a whole process, <linux/posix-timers.h>
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// peakMemory is the most that the process ever had resident. It is on the
// path of every run, so it looks for its one line and for nothing else.
func peakMemory(pid int) policy.Bytes {
	var buffer [4096]byte
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	n, err := unix.Read(fd, buffer[:])
	unix.Close(fd)
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(buffer[:n], []byte("VmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	peak, err := kib(string(bytes.TrimSpace(line)))
	if err != nil {
		return 0
	}
	return peak
}

// threadCount is the number of live threads: a folder for each.
func threadCount(pid int) (int, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/"+strconv.Itoa(pid)+"/task", &st); err != nil {
		return 0, err
	}
	return int(st.Nlink) - 2, nil
}

// rlimits are those of a worker, as the pairs that it sets by itself.
func (z *Zygote) rlimits(l policy.Limits) []any {
	p := z.config.Plan
	if !p.Rlimits {
		return []any{}
	}
	pair := func(resource int, value int64) any { return []any{resource, value} }
	seconds := int64((l.CPUTime.Std() + time.Second - 1) / time.Second)
	limits := []any{
		pair(unix.RLIMIT_NOFILE, int64(l.OpenFiles)),
		pair(unix.RLIMIT_FSIZE, int64(l.Scratch)),
		// The Runner's clock is exact and comes first; this one holds should
		// the Runner be stopped.
		pair(unix.RLIMIT_CPU, seconds+2),
		// What can be written to: the measure that counts, whoever reserves
		// address space without using it.
		pair(unix.RLIMIT_DATA, int64(z.Baseline.Data+l.Memory)),
	}
	if !p.Cgroup {
		// Shared mappings are not data. Where no cgroup counts them, the
		// address space must.
		limits = append(limits, pair(unix.RLIMIT_AS, int64(z.Baseline.AddressSpace+l.Memory)))
	}
	return limits
}
