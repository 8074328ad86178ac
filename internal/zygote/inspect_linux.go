package zygote

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/policy"
)

// verify reads from the kernel whether the worker has its walls. A worker that claims to
// have them and does not gets no guest.
func (w *Worker) verify() error {
	fd, err := openStatus(w.PID)
	if err != nil {
		return fmt.Errorf("the worker cannot be inspected: %w", err)
	}
	w.status.set(fd) // it is read again at the end of the run
	status, err := readStatus(fd)
	if err != nil {
		return fmt.Errorf("the worker cannot be inspected: %w", err)
	}
	if w.zygote.config.OneShot {
		// Measured here, this is the interpreter as its only guest finds it.
		if w.zygote.Baseline, err = baselineIn(status); err != nil {
			return err
		}
	}
	return w.zygote.expects(status)
}

// expects compares the kernel's status of a worker with the plan.
func (z *Zygote) expects(status status) error {
	for _, want := range z.expect {
		if !bytes.Contains(status, want) {
			return fmt.Errorf("the worker's walls do not match the plan: /proc/PID/status has no line %q", want)
		}
	}
	// "NSpid: 4711 12 1" is its pid in each namespace, from ours inward. A zygote that
	// became a worker has one less.
	if z.config.Plan.Namespaces&confine.CloneNewPID != 0 {
		levels := 3
		if z.config.OneShot {
			levels = 2
		}
		if pids := strings.Fields(status.field("NSpid")); len(pids) != levels || pids[levels-1] != "1" {
			return fmt.Errorf("the worker's walls do not match the plan: NSpid is %q", pids)
		}
	}
	return nil
}

// expectations are the lines that /proc/PID/status must have for a worker with all
// planned walls.
func expectations(p confine.Plan) [][]byte {
	ids := func(id int) string { return strings.Repeat("\t"+strconv.Itoa(id), 4) }
	lines := []string{"Uid:" + ids(p.UID), "Gid:" + ids(p.GID)}
	if p.Capabilities {
		const none = ":\t0000000000000000"
		lines = append(lines, "CapInh"+none, "CapPrm"+none, "CapEff"+none, "CapAmb"+none)
	}
	if p.NoNewPrivs {
		lines = append(lines, "NoNewPrivs:\t1")
	}
	if p.Seccomp != confine.SeccompOff {
		lines = append(lines, "Seccomp:\t2")
	}
	expect := make([][]byte, len(lines))
	for i, line := range lines {
		expect[i] = []byte("\n" + line + "\n")
	}
	return expect
}

// status is the text of /proc/PID/status. It is read for every worker and again for every
// run, so it is searched, not parsed.
type status []byte

func openStatus(pid int) (int, error) {
	return unix.Open("/proc/"+strconv.Itoa(pid)+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

func statusOf(pid int) (status, error) {
	fd, err := openStatus(pid)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return readStatus(fd)
}

func readStatus(fd int) (status, error) {
	buffer := make([]byte, 4096)
	n, err := unix.Pread(fd, buffer, 0)
	if err != nil {
		return nil, err
	}
	return buffer[:n], nil
}

func (s status) field(name string) string {
	_, rest, _ := bytes.Cut(s, []byte("\n"+name+":"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// Baseline is the memory that an interpreter takes before any guest.
type Baseline struct {
	AddressSpace, Data policy.Bytes
}

func baselineOf(pid int) (Baseline, error) {
	status, err := statusOf(pid)
	if err != nil {
		return Baseline{}, fmt.Errorf("the fork server cannot be inspected: %w", err)
	}
	return baselineIn(status)
}

func baselineIn(status status) (Baseline, error) {
	size, err := kib(status.field("VmSize"))
	if err != nil {
		return Baseline{}, err
	}
	data, err := kib(status.field("VmData"))
	return Baseline{AddressSpace: size, Data: data}, err
}

func kib(field string) (policy.Bytes, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(field, " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/PID/status: %q is not a size", field)
	}
	return policy.Bytes(n) * policy.KiB, nil
}

// cpuTime reads the CPU clock of another process. It takes one system call, counts
// nanoseconds, and the process cannot falsify it.
func cpuTime(pid int) (time.Duration, error) {
	const processClock = 2 // CPUCLOCK_SCHED of a whole process, <linux/posix-timers.h>
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// peakMemory is the peak of the worker's resident memory; 0 if the worker is dead.
func (w *Worker) peakMemory() (peak policy.Bytes) {
	w.status.use(func(fd int) {
		if status, err := readStatus(fd); err == nil {
			peak, _ = kib(status.field("VmHWM")) // a zombie has no such line
		}
	})
	return peak
}

// threadCount counts the live threads, which have one directory each.
func threadCount(pid int) (int, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/"+strconv.Itoa(pid)+"/task", &st); err != nil {
		return 0, err
	}
	return int(st.Nlink) - 2, nil
}
