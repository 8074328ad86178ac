package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"
)

// frontend is a path to a Runner, and its times.
type frontend struct {
	name string
	most time.Duration // beyond the Go API
	// direct is the Go API's run of the same script.
	direct *frontend
	// turn measures n runs, at 100 a second.
	turn func(into *samples, n int) error
	samples
}

// frontends compares warm runs through each frontend, in a program of its own, with the same
// runs of the Go API. The clock is in the client.
func (b *bench) frontends(ctx context.Context, t *table) (err error) {
	if b.cordon == "" {
		t.add(row{position: rowFrontends, Measure: "a warm run through a frontend, extra over Runner.Run, 100 runs/s, p50", Value: "no -cordon given"})
		return nil
	}
	var programs frontendPrograms
	defer func() { err = errors.Join(err, programs.close()) }()
	if err := programs.start(ctx, b); err != nil {
		return err
	}
	clocked := func(once func(context.Context) (time.Duration, error)) func(*samples, int) error {
		return func(into *samples, n int) error { return b.paced(ctx, into, n, slow, once) }
	}
	asking := func(p *lineProgram, want string) func(*samples, int) error {
		return clocked(func(context.Context) (time.Duration, error) { return p.ask(warmJSON+"\n", want) })
	}
	echo := &frontend{name: "cat", turn: asking(programs.echo, "script")}
	direct := &frontend{name: "the Go API", turn: clocked(b.warm)}
	// Tools of agents take no context.
	tool := &frontend{name: "the Go API", turn: clocked(func(ctx context.Context) (time.Duration, error) { return b.timed(ctx, mcpRequest) })}
	python := func(into *samples, n int) error {
		return programs.python.turn(into, wantWarm, "run", n, slow.Seconds())
	}
	through := []*frontend{
		{name: "JSON lines", most: 200 * time.Microsecond, direct: direct, turn: asking(programs.lines, `"result":`+wantWarm+`,`)},
		{name: "the Python package", most: 300 * time.Microsecond, direct: direct, turn: python},
		{name: "HTTP", most: 375 * time.Microsecond, direct: direct, turn: clocked(programs.http.run)},
		{name: "MCP", most: 450 * time.Microsecond, direct: tool, turn: clocked(programs.mcp.call)},
	}
	for range b.few(12, 1) {
		for _, f := range slices.Concat([]*frontend{echo, direct, tool}, through) {
			if err := f.measure(b.few(30, 2)); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	for _, f := range through {
		t.add(f.row())
	}
	t.add(row{
		position: rowFrontends, Measure: "a line through the pipes of cat and back, 100 lines/s, p50", Value: milliseconds(echo.p50()),
		Number: echo.p50().Seconds(), Note: "the limit for programs that talk over pipes",
	})
	return nil
}

// measure takes a turn. Its first run does not count: it warms the caches after the others.
func (f *frontend) measure(n int) error {
	var turn samples
	if err := f.turn(&turn, n+1); err != nil {
		return err
	}
	f.samples = append(f.samples, turn[1:]...)
	return nil
}

// row compares a frontend with the Go API.
func (f *frontend) row() row {
	extra := max(0, f.p50()-f.direct.p50())
	return row{
		position: rowFrontends, Measure: "a warm run through " + f.name + ", extra over Runner.Run, 100 runs/s, p50",
		Value: milliseconds(extra), Number: extra.Seconds(),
		Must: promise{AtMost: f.most.Seconds(), Text: fmt.Sprintf("≤ %v ms", inMilliseconds(f.most)), OnValue: true},
		Note: fmt.Sprintf("%s to %s", milliseconds(f.p50()), milliseconds(f.direct.p50())),
	}
}

// frontendPrograms are the frontends as their users start them, and cat, which does nothing else.
type frontendPrograms struct {
	echo, lines *lineProgram
	mcp         *mcpFrontend
	python      *clocked
	http        *servedHTTP
	closes      []func() error
}

// start starts all of them. The caller closes them after an error, too.
func (p *frontendPrograms) start(ctx context.Context, b *bench) (err error) {
	if p.echo, err = startLines(ctx, "cat"); err != nil {
		return err
	}
	p.closes = append(p.closes, p.echo.close)
	if p.lines, err = startLines(ctx, b.cordon, "run", "--json-lines", "--python", b.python); err != nil {
		return err
	}
	p.closes = append(p.closes, p.lines.close)
	if p.mcp, err = b.openMCP(ctx); err != nil {
		return err
	}
	p.closes = append(p.closes, p.mcp.close)
	if p.python, err = b.startPython(ctx, ""); err != nil {
		return err
	}
	p.closes = append(p.closes, p.python.stop)
	if p.http, err = b.serveHTTP(ctx); err != nil {
		return err
	}
	p.closes = append(p.closes, p.http.close)
	return nil
}

func (p *frontendPrograms) close() error {
	var all []error
	for _, closing := range p.closes {
		all = append(all, closing())
	}
	return errors.Join(all...)
}

// servedHTTP is a service in a program of its own.
type servedHTTP struct {
	httpFrontend
	process *exec.Cmd
}

// serveHTTP starts cordon serve on the loopback, and waits until it accepts connections.
func (b *bench) serveHTTP(ctx context.Context) (*servedHTTP, error) {
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &servedHTTP{process: exec.CommandContext(ctx, b.cordon, "serve", "--listen", at, "--python", b.python, "--log-level", "warn")}
	s.at, s.request, s.process.Stderr = at, httpRequest(at), os.Stderr
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if _, err = s.run(ctx); err == nil {
			return s, nil
		}
		waitForRefill()
	}
	return nil, errors.Join(err, s.close())
}

// freeAddress returns an address on which nothing listens.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// close stops the service, which ends without an error.
func (s *servedHTTP) close() error {
	for _, conn := range s.all {
		conn.Close()
	}
	return errors.Join(s.process.Process.Signal(os.Interrupt), s.process.Wait())
}
