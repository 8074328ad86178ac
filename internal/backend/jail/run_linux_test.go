package jail

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// holder takes a descriptor from another process, reports it, and keeps it until it is
// killed.
const holder = `
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind("server"); server.listen(1)
print("listening", flush=True)
held = socket.recv_fds(server.accept()[0], 10, 1)
print("held", flush=True)
sys.stdin.read()
`

const giver = `
import socket
server = socket.socket(socket.AF_UNIX)
server.connect("server")
socket.send_fds(server, [b"x"], [1])
server.recv(1)
print("all of it")
`

// A command ends even if another process holds its output open.
func TestCommandEndsWhileAnotherHoldsItsOutput(t *testing.T) {
	hosttest.NotUnderRace(t, "it runs a real program")
	b := openBackend(t, policy.Policy{AllowInterpreters: true})
	workspace := t.TempDir()
	python := func(script string) []string { return []string{"/usr/bin/python3", "-c", script} }
	keys, letGo, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	type answer struct {
		run.Result
		err error
	}
	begin := func(req run.Request) <-chan answer {
		req.Command.Workspace = workspace
		ended := make(chan answer, 1)
		go func() {
			r, err := attemptOnce(t.Context(), b, backend.Job{Request: req, Limits: b.options.Policy.Limits})
			ended <- answer{r, err}
		}()
		return ended
	}
	heard := make(lineWriter, 16)
	neighbor := begin(run.Request{Command: run.Command{Args: python(holder)}, Streams: run.Streams{In: keys, Out: heard}})
	if got := <-heard; got != "listening" {
		t.Fatalf("the neighbor says %q", got)
	}
	select {
	case a := <-begin(run.Request{Command: run.Command{Args: python(giver)}}):
		if a.err != nil || !a.OK() || a.Stdout != "all of it\n" {
			t.Errorf("%+v", a)
		}
	case <-time.After(20 * time.Second):
		t.Error("the run waits for the process that holds its output")
	}
	if got := <-heard; got != "held" {
		t.Errorf("the neighbor says %q", got)
	}
	if err := letGo.Close(); err != nil {
		t.Error(err)
	}
	if a := <-neighbor; a.err != nil || !a.OK() {
		t.Errorf("the neighbor: %+v", a)
	}
}

// lineWriter sends each line to a channel.
type lineWriter chan string

func (w lineWriter) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		w <- strings.TrimSpace(line)
	}
	return len(data), nil
}

// Without a cgroup, used memory is sampled. The init's memory and unused addresses do not
// count, so a small limit is enough for a small program.
func TestSmallMemoryLimitWithoutCgroup(t *testing.T) {
	b, err := New(Options{Without: []policy.Wall{policy.WallCgroup}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	limits, request := b.options.Policy.Limits, run.Request{Command: run.Command{Args: []string{"true"}}}
	for _, memory := range []policy.Bytes{4 << 20, 8 << 20, 16 << 20} {
		limits.Memory = memory
		if r, err := attemptOnce(t.Context(), b, backend.Job{Request: request, Limits: limits}); err != nil || !r.OK() {
			t.Errorf("%v: %s %q, %v", memory, r.Outcome, r.Error, err)
		}
	}
}
