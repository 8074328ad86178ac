// Package proc reads from /proc what the measurements need to know about this process and
// its descendants. cordon does not report its workers' pids, and a measurement should not
// trust what it measures.
package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Descendants lists the processes below pid, parents before children. It includes zombies:
// they are leaks, too.
func Descendants(pid int) ([]int, error) {
	children, err := tree()
	if err != nil {
		return nil, err
	}
	var all []int
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		below := children[next[0]]
		slices.Sort(below)
		all = append(all, below...)
		next = append(next, below...)
	}
	return all, nil
}

// Leaves lists the descendants that have no children: below a Runner, these
// are the workers, and above each of them is its fork server.
func Leaves(pid int) ([]int, error) {
	all, err := Descendants(pid)
	if err != nil {
		return nil, err
	}
	children, err := tree()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p int) bool { return len(children[p]) > 0 }), nil
}

// tree maps each process to its children.
func tree() (map[int][]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, parent, err := parseStat(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		children[parent] = append(children[parent], pid)
	}
	return children, nil
}

// parseStat reads the pid and the parent of a stat line. The name between them
// may hold spaces and parentheses, so it ends at the last one.
func parseStat(line string) (pid, parent int, err error) {
	head, _, ok := strings.Cut(line, " ")
	after := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[after+1:])
	if !ok || after < 0 || len(fields) < 2 {
		return 0, 0, fmt.Errorf("not a stat line: %q", line)
	}
	if pid, err = strconv.Atoi(head); err != nil {
		return 0, 0, err
	}
	parent, err = strconv.Atoi(fields[1])
	return pid, parent, err
}

// PSS is the memory of a process with each shared page divided by its users.
func PSS(pid int) (int64, error) {
	return kilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
}

// Private is the memory that this process does not share.
func Private() (int64, error) { return kilobytes("/proc/self/smaps_rollup", "Private_Dirty:") }

// RSS is the resident memory of this process.
func RSS() (int64, error) { return kilobytes("/proc/self/status", "VmRSS:") }

// kilobytes finds a line such as "Pss:  1234 kB" and returns bytes.
func kilobytes(file, key string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == key {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no line %q", file, key)
}

// Files counts the open descriptors of this process.
func Files() (int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	// One of them is the directory itself, open while it is read.
	return len(entries) - 1, err
}

// Mounts is this process's mount table, as the kernel prints it.
func Mounts() (string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	return string(text), err
}

// Groups lists cgroups next to and below our own whose names start with prefix, in every
// hierarchy of both versions.
func Groups(prefix string) ([]string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(strings.TrimSpace(string(text))) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("/proc/self/cgroup has the line %q", line)
		}
		controllers := strings.TrimPrefix(fields[1], "name=")
		for _, hierarchy := range []string{controllers, "unified", ""} {
			own := filepath.Join("/sys/fs/cgroup", hierarchy, fields[2])
			for _, dir := range []string{own, filepath.Dir(own)} {
				names, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
				if err != nil {
					return nil, err
				}
				found = append(found, names...)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// Machine describes the machine of a measurement, without which its numbers mean nothing.
func Machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown")
	}
	return model + ", Linux " + strings.TrimSpace(string(kernel))
}

// Load is the average number of running processes over the last minute. Above the number of
// cores, other programs distort the measurements.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}
