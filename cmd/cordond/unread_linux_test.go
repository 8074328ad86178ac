package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/token"
)

// 200 clients of one token never read their answers of 10 MiB: the service's memory stays
// bounded, and callers of another token are served.
func TestServeUnreadAnswers(t *testing.T) {
	firstSecret, firstHash := token.New()
	secondSecret, secondHash := token.New()
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(tokens, []byte("tokens: [{name: mute, sha256: "+firstHash+"}, {name: reader, sha256: "+secondHash+"}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "--tokens", tokens)
	const clients = 200
	body := `{"script": "result = 'x' * (10 << 20)", "limits": {"result": "16MiB"}}`
	request := fmt.Sprintf("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		firstSecret, len(body), body)
	var mute sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for range clients {
		conn, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		mute.Go(func() {
			_ = conn.SetDeadline(time.Now().Add(patience))
			if _, err := conn.Write([]byte(request)); err != nil {
				t.Error(err)
				return
			}
			status, err := bufio.NewReaderSize(conn, 16).ReadString(' ') // HTTP/1.1, and no more
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			seen[status]++
		})
		if status, answer := r.ask("POST", "/v1/runs", `{"script": "result = 1"}`, "Authorization: Bearer "+secondSecret); status != 200 {
			t.Fatalf("the other token: %d %s", status, answer)
		}
	}
	mute.Wait()
	if most := peakMemory(t, r.cmd.Process.Pid); most > 512 {
		t.Errorf("the service took %d MiB", most)
	} else {
		t.Logf("%d clients, and at most %d MiB", clients, most)
	}
	if seen["HTTP/1.1 "] != clients {
		t.Errorf("answers: %v", seen)
	}
}

// peakMemory is a process's peak resident memory in MiB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	if !found {
		t.Fatal("the kernel does not say")
	}
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}
