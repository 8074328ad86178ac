package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is a deadline far above what anything here takes.
const patience = 60 * time.Second

// runningService is a service that was started through cordon, as users start it.
type runningService struct {
	t      *testing.T
	cmd    *exec.Cmd
	log    *buffer
	notify *net.UnixConn // what systemd would hear
	client *http.Client
	socket string
	ended  chan error // how the process ended, once
}

// buffer is a log that can be read while it is written. It can lag behind other signs of
// the service, since its text goes through a pipe.
type buffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed by the next write
}

func newBuffer() *buffer { return &buffer{changed: make(chan struct{})} }

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
	return b.text.Write(p)
}

// logged waits until a line of the log matches, and returns the match.
func (r *runningService) logged(pattern string) []string {
	r.t.Helper()
	late := time.After(patience)
	for {
		r.log.mu.Lock()
		text, changed := r.log.text.String(), r.log.changed
		r.log.mu.Unlock()
		if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found != nil {
			return found
		}
		select {
		case <-changed:
		case <-late:
			r.t.Fatalf("%s is not in the log:\n%s", pattern, text)
		}
	}
}

// wholeLog stops the service and returns all of its log.
func (r *runningService) wholeLog() string {
	r.t.Helper()
	r.signal(syscall.SIGTERM)
	r.wait()
	return r.log.String()
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs cordon serve on its own socket, and waits until it is ready.
func start(t *testing.T, args ...string) *runningService {
	t.Helper()
	socket := filepath.Join(short(t), "s")
	r := launch(t, exec.Command(filepath.Join(programDirectory(t), "cordon"), append([]string{"serve", "--listen", "unix:" + socket}, args...)...))
	r.socket = socket
	r.client = clientOf(t, "unix", socket)
	r.hear("READY=1")
	return r
}

// launch starts a command as systemd would, with a notification socket.
func launch(t *testing.T, cmd *exec.Cmd) *runningService {
	t.Helper()
	at := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(short(t), "notify")}
	notify, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	r := &runningService{t: t, cmd: cmd, log: newBuffer(), notify: notify, ended: make(chan error, 1)}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+at.Name)
	cmd.Stderr = r.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // most have ended
		r.wait()
		notify.Close()
		if t.Failed() {
			t.Logf("the log:\n%s", r.log)
		}
	})
	return r
}

// clientOf returns a client that always connects to one address.
func clientOf(t *testing.T, network, address string) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// hear waits for a notification.
func (r *runningService) hear(want string) {
	r.t.Helper()
	message := make([]byte, 4096)
	if err := r.notify.SetReadDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	for {
		n, err := r.notify.Read(message)
		if err != nil {
			r.t.Fatalf("%s was not heard: %v\n%s", want, err, r.log)
		}
		if strings.Contains(string(message[:n]), want) {
			return
		}
	}
}

func (r *runningService) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// wait returns the exit code.
func (r *runningService) wait() int {
	err := <-r.ended
	r.ended <- err
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 {
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	}
	return r.cmd.ProcessState.ExitCode()
}

// ask sends a request and returns the answer.
func (r *runningService) ask(method, path, body string, headers ...string) (status int, answer string) {
	r.t.Helper()
	res := r.open(method, path, body, headers...)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// open sends a request; the caller reads the answer.
func (r *runningService) open(method, path, body string, headers ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
	return res
}

// begin starts a script and waits until it has printed something. The rest of its events
// can be read from the returned value.
func (r *runningService) begin(script string) (events *bufio.Reader, hangUp func()) {
	r.t.Helper()
	res := r.open("POST", "/v1/runs", `{"script": `+quote(script)+`}`, "Accept: text/event-stream") //nolint:bodyclose // hangUp does
	events = bufio.NewReader(res.Body)
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			r.t.Fatalf("no output came: %v", err)
		}
		if strings.HasPrefix(line, "event: stdout") {
			return events, func() { res.Body.Close() }
		}
	}
}

func quote(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(text) + `"`
}
