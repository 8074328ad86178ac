package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/httpapi"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// frontendHTTP measures POST /v1/runs on kept connections, alternating with the Runner
// behind it and with plain starts.
func (b *bench) frontendHTTP(ctx context.Context, t *table) (err error) {
	frontend, err := b.openHTTP()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frontend.close()) }()

	var plain, direct, through samples
	var directRate, throughRate float64
	rounds := b.few(10, 2)
	window := time.Second
	if b.quick {
		window = 300 * time.Millisecond
	}
	for range rounds {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		if err := b.paced(ctx, &direct, 100, steady, b.warm); err != nil {
			return err
		}
		if err := b.paced(ctx, &through, 100, steady, frontend.run); err != nil {
			return err
		}
		n, err := b.rate(window, func() error { _, err := b.warm(ctx); return err })
		if err != nil {
			return err
		}
		directRate += n / float64(rounds)
		waitForRefill()
		if n, err = b.rate(window, func() error { _, err := frontend.run(ctx); return err }); err != nil {
			return err
		}
		throughRate += n / float64(rounds)
		waitForRefill()
	}
	extra := max(0, through.p50()-direct.p50())
	t.add(row{
		position: rowHTTP, Measure: "POST /v1/runs, extra over Runner.Run, 300 runs/s, p50", Value: milliseconds(extra), Number: extra.Seconds(),
		Ratio: over(extra, plain.p50()), Must: atMost(1.0/20, "1/20"),
	})
	t.add(row{
		position: rowHTTP, Measure: "POST /v1/runs, all cores, sustained, vs Runner.Run", Value: fmt.Sprintf("%.0f runs/s", throughRate), Number: throughRate,
		Ratio: throughRate / directRate, Must: atLeast(0.7, "0.7 ×"),
	})
	return nil
}

// unreadHTTP measures how 200 clients of another token, which do not read their answers of
// 10 MiB, affect other callers.
func (b *bench) unreadHTTP(ctx context.Context, t *table) (err error) {
	frontend, err := b.openHTTP()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frontend.close()) }()
	var before, during samples
	rounds := b.few(5, 1)
	for range rounds {
		if err := b.paced(ctx, &before, 200, steady, frontend.run); err != nil {
			return err
		}
	}
	if err := frontend.muteClients(200); err != nil {
		return err
	}
	for range rounds {
		if err := b.paced(ctx, &during, 200, steady, frontend.run); err != nil {
			return err
		}
	}
	t.add(row{
		position: rowHTTP, Measure: "POST /v1/runs beside 200 clients that never read, p99, vs without them", Value: milliseconds(during.p99()), Number: during.p99().Seconds(),
		Ratio: over(during.p99(), before.p99()), Must: atMost(2, "2 ×"),
	})
	return nil
}

// muteClients opens connections that request large answers and read only their first
// byte.
func (d *httpFrontend) muteClients(n int) error {
	body := `{"script": "result = 'x' * (10 << 20)", "limits": {"result": "16MiB"}}`
	for range n {
		conn, err := net.Dial("tcp", d.at)
		if err != nil {
			return err
		}
		d.all = append(d.all, conn)
		if _, err := fmt.Fprintf(conn, "POST /v1/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer mute\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", d.at, len(body), body); err != nil {
			return err
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	return nil
}

// benchTokens are the callers of the bench, by their secrets.
type benchTokens struct{}

// Find accepts every secret.
func (benchTokens) Find(secret string) (token.Caller, bool) { return token.Caller{Name: secret}, true }

// httpFrontend is a server on loopback, with clients that do as little as possible: they use
// the same cores.
type httpFrontend struct {
	server  *http.Server
	service *service.Service
	at      string
	request []byte
	served  sync.WaitGroup

	mu   sync.Mutex
	idle []*httpClient
	all  []net.Conn
}

type httpClient struct {
	net.Conn
	answers *bufio.Reader
}

func (b *bench) openHTTP() (*httpFrontend, error) {
	d := &httpFrontend{service: service.New(service.Options{
		Runner: b.runner, Policy: policy.Policy{Python: b.python},
	})}
	handler, err := httpapi.New(httpapi.Options{Service: d.service, Version: "bench", Tokens: benchTokens{}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d.at = listener.Addr().String()
	d.server = httpapi.NewServer(handler, nil)
	d.served.Go(func() { _ = d.server.Serve(listener) }) // ends with the server
	d.request = httpRequest(d.at)
	return d, nil
}

// httpRequest returns a warm run, for the server at an address.
func httpRequest(at string) []byte {
	return fmt.Appendf(nil, "POST /v1/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer reader\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", at, len(warmJSON), warmJSON)
}

// run sends one request, and checks its answer.
func (d *httpFrontend) run(context.Context) (time.Duration, error) {
	client, err := d.client()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := client.Write(d.request); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(client.answers, nil)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(response.Body)
	took := time.Since(begin)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result":`+wantWarm+`,`)) {
		return 0, run.Errorf(run.Internal, "%s: %s", response.Status, body)
	}
	d.mu.Lock()
	d.idle = append(d.idle, client)
	d.mu.Unlock()
	return took, nil
}

// client returns an idle connection.
func (d *httpFrontend) client() (*httpClient, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.idle); n > 0 {
		client := d.idle[n-1]
		d.idle = d.idle[:n-1]
		return client, nil
	}
	conn, err := net.Dial("tcp", d.at)
	if err != nil {
		return nil, err
	}
	d.all = append(d.all, conn)
	return &httpClient{conn, bufio.NewReader(conn)}, nil
}

func (d *httpFrontend) close() error {
	for _, conn := range d.all {
		conn.Close()
	}
	err := errors.Join(d.service.Close(), d.server.Close())
	d.served.Wait()
	return err
}
