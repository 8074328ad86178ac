package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// With many connections at once, those within the bound are served, the others get an answer
// that says why they are refused, and when one closes, a new one is served.
func TestConnectionsAreBounded(t *testing.T) {
	const most, more = 50, 200
	var refused atomic.Int64
	at, server := startLimited(t, Connections{Most: most, Refused: func() { refused.Add(1) }})

	var inside []net.Conn
	for range most {
		conn := dial(t, at)
		if status, _, err := get(conn); err != nil || status != http.StatusOK {
			t.Fatalf("%d, %v", status, err)
		}
		inside = append(inside, conn)
	}
	var group sync.WaitGroup
	for range more {
		group.Go(func() {
			conn := dial(t, at)
			defer conn.Close()
			// Connections above maxLeaving may be closed before they have read the answer.
			status, body, err := get(conn)
			var p Problem
			if err == nil && (status != http.StatusTooManyRequests || json.Unmarshal(body, &p) != nil || p.Class != run.Busy || !strings.Contains(p.Detail, "too many connections")) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	group.Wait()
	if n := refused.Load(); n != more {
		t.Errorf("%d of %d were refused", n, more)
	}

	// Each refused connection gets the answer, also one that has sent a request.
	for range 3 {
		conn := dial(t, at)
		if status, _, err := get(conn); err != nil || status != http.StatusTooManyRequests {
			t.Errorf("%d, %v", status, err)
		}
		conn.Close()
	}
	// The first connections are still served.
	for _, conn := range inside {
		if status, _, err := get(conn); err != nil || status != http.StatusOK {
			t.Fatalf("%d, %v", status, err)
		}
	}
	inside[0].Close()
	hosttest.Eventually(t, "another connection is served", func() bool {
		conn := dial(t, at)
		defer conn.Close()
		status, _, err := get(conn)
		return err == nil && status == http.StatusOK
	})
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// Before the TLS handshake no answer can be sent: connections above the bound are closed.
func TestEncryptedConnectionsAreBounded(t *testing.T) {
	at, _ := startLimited(t, Connections{Most: 1, Encrypted: true})
	first := dial(t, at)
	if status, _, err := get(first); err != nil || status != http.StatusOK {
		t.Fatalf("%d, %v", status, err)
	}
	if got, err := io.ReadAll(dial(t, at)); len(got) > 0 || err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("%q, %v", got, err)
	}
}

// startLimited starts a server with limits on its connections.
func startLimited(t *testing.T, c Connections) (at string, server *http.Server) {
	t.Helper()
	watchLeaks(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "welcome") }), nil)
	wait := serve(t, server, c.Bound(listener))
	t.Cleanup(func() {
		_ = server.Close()
		wait()
	})
	return listener.Addr().String(), server
}

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", at)
	if err != nil {
		t.Error(err)
		t.FailNow()
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// get sends a request and returns the answer.
func get(conn net.Conn) (status int, body []byte, err error) {
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		return 0, nil, err
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0, nil, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// A client that keeps sending a refused body still gets its answer, also after half a
// second, which is how long net/http would wait.
func TestRefusedBodyIsTakenForAWhile(t *testing.T) {
	d := open(t, &fake{run: echo}, func(_ *service.Options, o *Options) { o.MaxBody = 1 << 20 })
	conn, answers := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2097152\r\n\r\n")
	piece := []byte(strings.Repeat(" ", 10<<10))
	for i := range 20 { // for a second
		if _, err := conn.Write(piece); err != nil {
			t.Fatalf("piece %d: %v", i, err)
		}
		<-time.After(50 * time.Millisecond)
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(body), "above the maximum of 1048576 bytes") {
		t.Errorf("%s: %s, %v", response.Status, body, err)
	}
}
