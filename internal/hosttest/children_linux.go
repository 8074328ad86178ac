package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Children lists the processes that have this one as their parent, by pid and name.
func Children(t testing.TB) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(tasks) == 0 {
		t.Fatalf("this kernel does not list children: %v", err)
	}
	var found []string
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that has ended
		}
		for pid := range strings.FieldsSeq(string(text)) {
			name, err := os.ReadFile("/proc/" + pid + "/comm")
			if err == nil {
				found = append(found, fmt.Sprintf("%s %s", pid, strings.TrimSpace(string(name))))
			}
		}
	}
	return found
}
