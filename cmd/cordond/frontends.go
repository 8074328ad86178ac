package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/httpapi"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/internal/tracing"
	"github.com/cordon-sandbox/cordon/run"
)

// everything is a path: all that the HTTP frontend has is offered.
const everything = "/"

// serveWeb opens the address, then the service, and serves both. Of the HTTP frontend only
// what is at one path is offered, and what tells how the service is.
func serveWeb(ctx context.Context, opts serveOptions, mounts func(parts) map[string]http.Handler, path string) (err error) {
	if err := errors.Join(opts.webOptions.settle(), opts.serviceOptions.settle()); err != nil {
		return err
	}
	log, err := opts.logger()
	if err != nil {
		return err
	}
	tokens, err := openTokens(opts.tokens, log)
	if err != nil {
		return err
	}
	cert, err := openCertificate(opts.tlsCert, opts.tlsKey)
	if err != nil {
		return err
	}
	at, err := openPlace(ctx, opts.listen, tokens != nil)
	if err != nil {
		return err
	}
	defer at.Close()
	if at.open != "" && cert == nil {
		log.Warn("tokens and code travel as they are: say --tls-cert, unless something before this service encrypts")
	}
	p, err := assemble(ctx, opts.serviceOptions, log)
	if err != nil {
		return err
	}
	defer func() { err = closing(ctx, log, p, err) }()

	api := httpapi.Options{
		Service: p.service, Version: p.version, Logger: log, Mounts: mounts(p),
		Refused: func(class run.Class) { p.metrics.Refused(observe.HTTP, class) },
	}
	if tokens != nil {
		api.Tokens = tokens
	}
	var frontends []frontend
	if measured := p.metrics.Handler(); opts.metricsListen == "" {
		api.Metrics = measured
	} else {
		d, err := metricsFrontend(opts.metricsListen, measured, log)
		if err != nil {
			return err
		}
		defer d.at.Close()
		frontends = append(frontends, d)
	}
	handler, err := httpapi.New(api)
	if err != nil {
		return err
	}
	server := httpapi.NewServer(traced(only(path, handler)), log)
	server.TLSConfig = cert.config()
	at.Listener = httpapi.Connections{
		Most: opts.connections, Encrypted: cert != nil,
		Refused: crowded(log, func() { p.metrics.Refused(observe.HTTP, run.Busy) }),
	}.Bound(at.Listener)
	w := &web{
		log: log, frontends: append(frontends, frontend{server, at}), grace: opts.grace.Std(),
		ready: p.service.Ready, drain: p.service.Drain,
		reload: func() error { return errors.Join(reloadTokens(tokens), cert.reload()) },
	}
	return w.serve(ctx)
}

// metricsFrontend offers the metrics at an address of their own. They are figures with names of
// ours, and no way to run anything.
func metricsFrontend(address string, measured http.Handler, log *slog.Logger) (frontend, error) {
	at, err := net.Listen("tcp", address)
	if err != nil {
		return frontend{}, run.Errorf(run.Invalid, "--metrics-listen: %w", err)
	}
	mux := http.NewServeMux()
	if a, ok := at.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
		measured = httpapi.ThisMachine(measured)
	}
	mux.Handle("GET /metrics", measured)
	return frontend{httpapi.NewServer(mux, log), httpapi.Connections{Most: mostScrapers}.Bound(at)}, nil
}

// mostScrapers bounds those who are connected to read metrics, which are few as a rule.
const mostScrapers = 64

// crowded counts connections that are sent away. The log hears of it once a minute.
func crowded(log *slog.Logger, count func()) func() {
	var next atomic.Int64
	return func() {
		count()
		now := time.Now()
		if due := next.Load(); now.UnixNano() >= due && next.CompareAndSwap(due, now.Add(time.Minute).UnixNano()) {
			log.Warn("there are more connections than --connections: the new ones are sent away")
		}
	}
}

// openTokens reads a token file; nil if there is none. It is read again when it changes,
// which is told in the log.
func openTokens(path string, log *slog.Logger) (*token.Store, error) {
	if path == "" {
		return nil, nil
	}
	tokens, err := token.Open(path)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "--tokens: %w", err)
	}
	tokens.OnReload(func(err error) {
		if err != nil {
			log.Error("the token file has changed and is wrong: the tokens before stay in force", "error", err)
			return
		}
		log.Info("the token file has changed", "tokens", tokens.Len())
	})
	return tokens, nil
}

func reloadTokens(tokens *token.Store) error {
	if tokens == nil {
		return nil
	}
	return tokens.Reload()
}

// only lets through what is at a path, and what tells how the service is.
func only(path string, h http.Handler) http.Handler {
	if path == everything {
		return h
	}
	mux := http.NewServeMux()
	for _, p := range []string{path, "/healthz", "/readyz", "/metrics"} {
		mux.Handle(p, h)
	}
	return mux
}

// traced has a request belong to the trace that its caller names.
func traced(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(tracing.FromHeader(r.Context(), r.Header)))
	})
}

// closing closes the parts. An end that was asked for is none to be told of by its cause,
// so what goes wrong then is logged.
func closing(ctx context.Context, log *slog.Logger, p parts, err error) error {
	switch failed := p.close(); {
	case failed == nil:
		return err
	case ctx.Err() != nil:
		log.Error("not all has ended as it should", "error", failed)
		return cli.ExitCode(run.ExitCode(run.Internal))
	default:
		return errors.Join(err, failed)
	}
}
