package mcpserver_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// eightThreads is a guest that can be recognized from outside: no other process of these
// tests has as many threads.
const eightThreads = "import threading, time\nfor _ in range(7): threading.Thread(target=time.sleep, args=(25,)).start()\nprint('begun', flush=True)"

// eightThreadsRunning reports whether a process has such a guest among its descendants.
func eightThreadsRunning(t *testing.T, ancestor int) bool {
	t.Helper()
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	parent, threads := map[int]int{}, map[int]string{}
	for _, directory := range directories {
		status, err := os.ReadFile(filepath.Join(directory, "status"))
		if err != nil {
			continue // it has just ended
		}
		pid, err := strconv.Atoi(filepath.Base(directory))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			switch name {
			case "PPid":
				if parent[pid], err = strconv.Atoi(value); err != nil {
					t.Fatal(err)
				}
			case "Threads":
				threads[pid] = value
			case "State":
				if strings.HasPrefix(value, "Z") {
					delete(threads, pid)
				}
			}
		}
	}
	for pid, n := range threads {
		if n != "8" || pid == ancestor {
			continue
		}
		for up := parent[pid]; up > 1; up = parent[up] {
			if up == ancestor {
				return true
			}
		}
	}
	return false
}

// waitForGuest waits until such a guest runs, or until none runs.
func waitForGuest(t *testing.T, ancestor int, there bool) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for eightThreadsRunning(t, ancestor) != there {
		if time.Now().After(deadline) {
			t.Fatalf("after 15s: a guest runs: %v, want %v", !there, there)
		}
		<-time.After(20 * time.Millisecond)
	}
}
