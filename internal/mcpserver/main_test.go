package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
)

// serveVariable has the test binary be a server instead: "stdio", or "http", which writes
// its address to stderr and ends with stdin.
const serveVariable = "CORDON_TEST_MCP_SERVE"

func TestMain(m *testing.M) {
	if how := os.Getenv(serveVariable); how != "" {
		if err := serve(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// newService is a service over a real Runner.
func newService(p policy.Policy) (s *service.Service, closing func() error, err error) {
	runner, err := cordon.NewRunner(cordon.Options{Policy: p, Idle: 2})
	if err != nil {
		return nil, nil, err
	}
	s = service.New(service.Options{
		Runner: runner, Policy: p, Version: "test", Commands: true,
		Line: admission.NewLine(admission.Options{Concurrent: 16, Queue: 64}),
	})
	return s, func() error { return errors.Join(s.Close(), runner.Close()) }, nil
}

func serve(how string) (err error) {
	s, closing, err := newService(policy.Policy{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	door := mcpserver.New(mcpserver.Options{
		Service: s, Version: "test", Commands: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if how == "stdio" {
		return door.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handlerOf(door), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Whoever started us closes stdin, also by dying.
		_, _ = io.Copy(io.Discard, os.Stdin)
		door.Close()
		server.Close()
	}()
	fmt.Fprintln(os.Stderr, "listening on", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handlerOf is the door behind a guard, as an HTTP service puts it up: whoever has a
// token is who it says, and whoever has none is local.
func handlerOf(door *mcpserver.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", door.StreamableHandler())
	mux.Handle("/sse", door.SSEHandler())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := token.Local
		if name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			who = token.Caller{Name: name}
		}
		mux.ServeHTTP(w, r.WithContext(mcpserver.WithCaller(r.Context(), who)))
	})
}
