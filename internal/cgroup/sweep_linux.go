package cgroup

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// owner parses the name of a pool: cordon-<pid>-<its start time>-<random>.
func owner(name string) (pid, start string, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 4 || parts[0] != "cordon" || len(parts[3]) != 8 {
		return "", "", false
	}
	for _, part := range parts[1:3] {
		if _, err := strconv.ParseUint(part, 10, 63); err != nil {
			return "", "", false
		}
	}
	if _, err := hex.DecodeString(parts[3]); err != nil {
		return "", "", false
	}
	return parts[1], parts[2], true
}

func ownName() (string, error) {
	pid := os.Getpid()
	start, err := startTime(pid)
	if err != nil {
		return "", err
	}
	var random [4]byte
	rand.Read(random[:])
	return fmt.Sprintf("cordon-%d-%d-%s", pid, start, hex.EncodeToString(random[:])), nil
}

// startTime returns when a process was started, in clock ticks since boot. With it, a pid
// identifies one process until the next boot.
func startTime(pid int) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second column is the program's name in parentheses, which may contain any
	// character. The start time is the 22nd.
	columns := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(columns) < 20 {
		return 0, fmt.Errorf("cgroup: /proc/%d/stat has too few columns", pid)
	}
	return strconv.ParseUint(string(columns[19]), 10, 64)
}

// Sweep removes the groups of pools whose owner is dead, and returns how many. It leaves a
// group that still has a process to the next Sweep. Open calls it, so that the groups of a
// killed cordon are removed eventually.
func Sweep(parent string) (removed int) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, start, ok := owner(e.Name())
		if ok && e.IsDir() && !alive(pid, start) && sweepUnlocked(parent+"/"+e.Name()) {
			removed++
		}
	}
	return removed
}

func alive(pid, start string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return false
	}
	now, err := startTime(n)
	return err == nil && strconv.FormatUint(now, 10) == start
}

// sweepUnlocked removes a group that is not locked. Checking the pid in its name is not
// enough, because the owner may be in another pid namespace or hidden by hidepid. Checking
// the lock is not enough, because the owner creates the group before it can lock it.
func sweepUnlocked(dir string) bool {
	lock, err := open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer unix.Close(lock)
	if unix.Flock(lock, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	return removeTree(dir) == nil
}
