package zygote

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dying reports whether a process is ending and cannot change that: each of its threads
// is exiting or has a pending SIGKILL. A process that does not exist counts as dying,
// because its end is about to be reported.
func dying(pid int) bool {
	tasks := filepath.Join("/proc", strconv.Itoa(pid), "task")
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return os.IsNotExist(err)
	}
	for _, entry := range entries {
		if !threadDying(filepath.Join(tasks, entry.Name())) {
			return false
		}
	}
	return true
}

func threadDying(dir string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return true // gone
	}
	// The name is in parentheses and may contain any byte.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const exiting, flagsField = 0x4, 9 - 3 // PF_EXITING of <linux/sched.h>
	if len(fields) > flagsField {
		if flags, err := strconv.ParseUint(fields[flagsField], 10, 64); err == nil && flags&exiting != 0 {
			return true
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return true
	}
	for _, name := range []string{"SigPnd", "ShdPnd"} {
		if pending, err := strconv.ParseUint(status(text).field(name), 16, 64); err == nil && pending&(1<<(unix.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}
