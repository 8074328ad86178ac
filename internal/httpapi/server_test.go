package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// pipes is a listener whose connections are in memory, so that they use the clock of
// synctest.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func newPipes() *pipes {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.accepted <- theirs
	return ours
}

// Connections are closed in time: without a request, with half of one, and idle after one.
func TestQuietConnectionsEnd(t *testing.T) {
	for _, row := range []struct {
		name, sent string
		answered   bool
		after      time.Duration
	}{
		{"nothing", "", false, 10 * time.Second},
		{"half of the headers", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", false, 10 * time.Second},
		{"a whole request", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", true, 2 * time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := newPipes()
				server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), nil)
				wait := serve(t, server, at)
				conn := at.dial()
				if row.sent != "" {
					if _, err := io.WriteString(conn, row.sent); err != nil {
						t.Fatal(err)
					}
				}
				began := time.Now()
				answers := bufio.NewReader(conn)
				if row.answered {
					response, err := http.ReadResponse(answers, nil)
					if err != nil {
						t.Fatal(err)
					}
					response.Body.Close()
				}
				_, err := io.Copy(io.Discard, answers)
				if took := time.Since(began); err != nil || took < row.after || took > row.after+time.Second {
					t.Errorf("closed after %v, %v; want %v", took, err, row.after)
				}
				if err := errors.Join(conn.Close(), server.Close()); err != nil {
					t.Error(err)
				}
				wait()
			})
		})
	}
}

// Headers are bounded, because they are read before the token is checked.
func TestLargeHeaders(t *testing.T) {
	d := open(t, &fake{run: echo}, nil)
	_, r := d.raw(t, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, " 431 ") {
		t.Errorf("%q, %v", line, err)
	}
}

// The deadline of an answer does not apply to the next one on the same connection, also if
// another handler writes it.
func TestADeadlineIsForOneAnswer(t *testing.T) {
	const timeout = 50 * time.Millisecond
	d := open(t, &fake{run: echo}, func(_ *service.Options, o *Options) {
		o.WriteTimeout = timeout
		o.Mounts = map[string]http.Handler{"/other": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other") })}
	})
	conn, r := d.raw(t, "")
	for i, path := range []string{"/healthz", "/other"} {
		if i > 0 {
			<-time.After(2 * timeout)
		}
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", path, response.Status, err)
		}
		response.Body.Close()
	}
}

// Refused is called for exactly those refused requests that the service's observers do not
// see.
func TestRefusedRequestsAreCounted(t *testing.T) {
	reported := make(chan run.Class, 10)
	d := open(t, &fake{run: func(context.Context, run.Request) (run.Result, error) {
		return run.Result{}, run.Errorf(run.Unsupported, "no")
	}}, func(_ *service.Options, o *Options) {
		o.Refused = func(class run.Class) { reported <- class }
		o.Tokens = finder{"good": {Name: "alice"}}
	})
	for _, row := range []struct {
		token, body string
		status      int
		want        run.Class
	}{
		{"bad", `{"script": "pass"}`, 401, run.Forbidden},
		{"good", `{`, 400, run.Invalid},
		{"good", `{"script": "pass"}`, 501, ""}, // the observers see it
	} {
		a := d.ask(http.MethodPost, "/v1/runs", row.body, "Authorization: Bearer "+row.token)
		var got run.Class
		select {
		case got = <-reported:
		default:
		}
		if a.status != row.status || got != row.want {
			t.Errorf("%s: %d, reported %q; want %d, %q", row.body, a.status, got, row.status, row.want)
		}
	}
}

type finder map[string]token.Caller

func (f finder) Find(secret string) (token.Caller, bool) {
	who, found := f[secret]
	return who, found
}
