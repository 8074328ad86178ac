package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// With --audit-required the service refuses runs while they cannot be recorded, and
// accepts them again when they can.
func TestServeAuditRequired(t *testing.T) {
	if os.Geteuid() != 0 {
		hosttest.Lacks(t, "root, to mount a small disk")
	}
	disk := t.TempDir()
	hosttest.Mount(t, "tmpfs", disk, "size=256k")
	r := start(t, "--audit-file", filepath.Join(disk, "audit.jsonl"), "--audit-required")
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not small")
	}
	const script = `{"script": "pass"}`
	// A page of the log has room for some; and the log notices when it writes.
	until := func(want int, method, path, body string) (answer string) {
		status := 0
		for end := time.Now().Add(patience); time.Now().Before(end); {
			if status, answer = r.ask(method, path, body); status == want {
				return answer
			}
		}
		t.Fatalf("%d %s, and never %d", status, answer, want)
		return ""
	}
	if answer := until(503, "POST", "/v1/runs", script); strings.Contains(answer, disk) {
		t.Errorf("callers hear of files of this machine: %s", answer)
	}
	if status, answer := r.ask("GET", "/readyz", ""); status != 503 {
		t.Errorf("ready, while nothing may run: %d %s", status, answer)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	until(200, "GET", "/readyz", "")
	if status, answer := r.ask("POST", "/v1/runs", script); status != 200 {
		t.Errorf("with room again: %d %s", status, answer)
	}
	r.signal(unix.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
