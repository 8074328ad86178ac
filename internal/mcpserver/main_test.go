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
	"testing"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/httpapi"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// serveVariable makes the test binary a server: "stdio", or "http", which writes its address to
// stderr and ends when stdin is closed.
const serveVariable = "CORDON_TEST_MCP_SERVE"

// pythonVariable names the interpreter of such a server; empty for the one that cordon finds.
const pythonVariable = "CORDON_TEST_MCP_PYTHON"

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

// newService returns a service with a real Runner.
func newService(p policy.Policy) (s *service.Service, closing func() error, err error) {
	runner, err := cordon.NewRunner(cordon.Options{Policy: p, Idle: 2, Concurrent: 16, Queue: 64})
	if err != nil {
		return nil, nil, err
	}
	s = service.New(service.Options{
		Runner: runner, Policy: p, Version: "test", Commands: true,
		OpenSession: func(ctx context.Context, o run.SessionOptions) (service.Session, error) {
			made, err := runner.OpenSession(ctx, o)
			if err != nil {
				return nil, err // not an interface that holds a nil pointer
			}
			return made, nil
		},
	})
	return s, func() error { return errors.Join(s.Close(), runner.Close()) }, nil
}

func serve(how string) (err error) {
	s, closing, err := newService(policy.Policy{Python: os.Getenv(pythonVariable)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	frontend := mcpserver.New(mcpserver.Options{
		Service: s, Version: "test", Commands: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if how == "stdio" {
		return frontend.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := httpapi.NewServer(handlerOf(frontend, nameAsSecret{}), slog.New(slog.DiscardHandler))
	go func() {
		// The parent process closes stdin, at the latest when it dies.
		_, _ = io.Copy(io.Discard, os.Stdin)
		frontend.Close()
		server.Close()
	}()
	fmt.Fprintln(os.Stderr, "listening on", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handlerOf returns the frontend behind the service's own HTTP stack. A request with a token has
// the caller of the token; a request without one is local.
func handlerOf(frontend *mcpserver.Server, tokens httpapi.Finder) http.Handler {
	stack := func(tokens httpapi.Finder) http.Handler {
		h, err := httpapi.New(httpapi.Options{Service: frontend.Service, Tokens: tokens, Mounts: map[string]http.Handler{
			"/mcp": frontend.StreamableHandler(), "/sse": frontend.SSEHandler(),
		}})
		if err != nil {
			panic(err)
		}
		return h
	}
	local, others := stack(nil), stack(tokens)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			others.ServeHTTP(w, r)
			return
		}
		local.ServeHTTP(w, r)
	})
}

// nameAsSecret finds a caller for every secret: the secret is the name.
type nameAsSecret struct{}

func (nameAsSecret) Find(secret string) (token.Caller, bool) { return token.Caller{Name: secret}, true }

// singleCaller finds the same caller for every secret.
type singleCaller token.Caller

func (s *singleCaller) Find(string) (token.Caller, bool) { return token.Caller(*s), true }
