package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// The messages of an agent: its introduction, and one call that is repeated. Tools take no
// context.
const (
	mcpHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}` + "\n"
	mcpReady = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	mcpCall  = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"result = 41 + 1"}}}` + "\n"
)

var mcpRequest = run.Request{Script: run.Script{Source: "result = 41 + 1"}}

// frontendMCP measures run_python as an agent uses it, which starts `cordon mcp` and talks
// to it over pipes, alternating with a Runner in this process and with plain starts.
func (b *bench) frontendMCP(ctx context.Context, t *table) (err error) {
	const measure = "run_python over MCP stdio, extra over Runner.Run, 300 runs/s, p50"
	if b.cordon == "" {
		t.add(row{position: rowMCP, Measure: measure, Value: "no -cordon given"})
		return nil
	}
	frontend, err := b.openMCP(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frontend.close()) }()

	var plain, direct, through samples
	for range b.few(10, 2) {
		if err := startTurn(ctx, &plain, b.plainLine(), "", ""); err != nil {
			return err
		}
		once := func(ctx context.Context) (time.Duration, error) { return b.timed(ctx, mcpRequest) }
		if err := b.paced(ctx, &direct, 100, steady, once); err != nil {
			return err
		}
		if err := b.paced(ctx, &through, 100, steady, frontend.call); err != nil {
			return err
		}
	}
	extra := max(0, through.p50()-direct.p50())
	t.add(row{
		position: rowMCP, Measure: measure, Value: milliseconds(extra), Number: extra.Seconds(),
		Ratio: over(extra, plain.p50()), Must: atMost(1.0/20, "1/20"),
	})
	return nil
}

// mcpFrontend is a service with this process as its only client.
type mcpFrontend struct{ *lineProgram }

func (b *bench) openMCP(ctx context.Context) (*mcpFrontend, error) {
	program, err := startLines(ctx, b.cordon, "mcp", "--python", b.python, "--log-level", "warn")
	if err != nil {
		return nil, err
	}
	if _, err = program.ask(mcpHello, `"serverInfo"`); err == nil {
		_, err = io.WriteString(program.in, mcpReady)
	}
	if err != nil {
		return nil, errors.Join(err, program.close())
	}
	return &mcpFrontend{program}, nil
}

func (d *mcpFrontend) call(context.Context) (time.Duration, error) {
	return d.ask(mcpCall, `"result":`+wantWarm+`,`)
}
