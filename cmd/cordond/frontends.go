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

// everything is the path that offers the whole HTTP frontend.
const everything = "/"

// serveWeb opens the address, then the service, and serves both. It offers only the part
// of the HTTP frontend at path, and the health endpoints.
func serveWeb(ctx context.Context, opts serveOptions, mounts func(parts) map[string]http.Handler, path string) (err error) {
	if err := errors.Join(opts.webOptions.validate(), opts.serviceOptions.validate()); err != nil {
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
	at, err := openEndpoint(ctx, opts.listen, tokens != nil)
	if err != nil {
		return err
	}
	defer at.Close()
	if at.open != "" && cert == nil {
		log.Warn("tokens and code are sent unencrypted: use --tls-cert, unless a proxy before this service encrypts")
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
		log: log, frontends: append(frontends, frontend{server, at}), grace: opts.grace,
		ready: p.service.Ready, drain: p.service.Drain,
		reload: func() error { return errors.Join(reloadTokens(tokens), cert.reload()) },
	}
	return w.serve(ctx)
}

// metricsFrontend offers the metrics at an address of their own. They only have names
// that cordon chose, and cannot run anything.
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

// mostScrapers bounds the connections for reading metrics, which are usually few.
const mostScrapers = 64

// crowded counts refused connections. It logs them at most once a minute.
func crowded(log *slog.Logger, count func()) func() {
	var next atomic.Int64
	return func() {
		count()
		now := time.Now()
		if due := next.Load(); now.UnixNano() >= due && next.CompareAndSwap(due, now.Add(time.Minute).UnixNano()) {
			log.Warn("there are more connections than --connections: refusing new ones")
		}
	}
}

// openTokens reads a token file; nil if there is none. The file is read again when it
// changes, which is logged.
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
			log.Error("the changed token file is invalid: the previous tokens stay in force", "error", err)
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

// only lets through what is at path, and the health endpoints.
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

// traced makes a request part of the trace that its caller names.
func traced(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(tracing.FromHeader(r.Context(), r.Header)))
	})
}

// closing closes the parts. After a requested shutdown, failures are logged: the returned
// error would name its cause instead.
func closing(ctx context.Context, log *slog.Logger, p parts, err error) error {
	switch failed := p.close(); {
	case failed == nil:
		return err
	case ctx.Err() != nil:
		log.Error("the shutdown was not clean", "error", failed)
		return cli.ExitCode(cli.ClassCode(run.Internal))
	default:
		return errors.Join(err, failed)
	}
}
