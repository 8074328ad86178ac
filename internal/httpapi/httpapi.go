package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/kept"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// Finder finds the caller of a secret.
type Finder interface {
	Find(secret string) (token.Caller, bool)
}

// Options are the parts of the frontend.
type Options struct {
	Service *service.Service
	// Tokens authenticate callers. Without them every caller is token.Local, and must
	// be on this machine.
	Tokens Finder
	// Metrics answers /metrics; nil means that there are none.
	Metrics http.Handler
	// Refused is called for each refused request that the service's observers do not
	// see. It may be nil.
	Refused func(class run.Class)
	// MaxBody bounds a request's body; 0 means DefaultMaxBody.
	MaxBody int64
	// BodyTimeout is how long a body may take to arrive; 0 means DefaultBodyTimeout.
	BodyTimeout time.Duration
	// WriteTimeout is how long a client may take to accept an answer, or one event of a
	// stream; 0 means DefaultWriteTimeout.
	WriteTimeout time.Duration
	// Version is shown in the documents.
	Version string
	// Logger gets failures of cordon itself. Nil discards them.
	Logger *slog.Logger
	// Mounts has other frontends by their paths, behind the same guards. They get the
	// caller from token.CallerOf.
	Mounts map[string]http.Handler
}

// What the zero values of Options mean.
const (
	DefaultMaxBody      = 16 << 20
	DefaultBodyTimeout  = 30 * time.Second
	DefaultWriteTimeout = 10 * time.Second
)

// bodiesAtOnce is how many bodies of the largest size may be in memory together.
const bodiesAtOnce = 16

// api is the frontend.
type api struct {
	Options
	bodies budget
	keys   *kept.Store[*keyed]

	document, page []byte
}

// New returns the frontend's handler.
func New(o Options) (http.Handler, error) {
	_, h, err := build(o)
	return h, err
}

func build(o Options) (*api, http.Handler, error) {
	if o.Service == nil {
		return nil, nil, run.Errorf(run.Internal, "the HTTP frontend needs a service behind it")
	}
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, DefaultBodyTimeout)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, DefaultWriteTimeout)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	a := &api{Options: o, bodies: budget{most: bodiesAtOnce * o.MaxBody}, keys: kept.NewStore(keptAnswers)}
	document := newDocument(o.Version)
	var err error
	if a.document, err = encode(document); err != nil {
		return nil, nil, err
	}
	if a.page, err = newPage(document); err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	for path, methods := range a.routes() {
		mux.Handle(path, methods)
	}
	for path, mounted := range o.Mounts {
		mux.Handle(path, a.guarded(a.mounted(mounted)))
	}
	mux.Handle("/", a.guarded(a.answering(func(_ http.ResponseWriter, r *http.Request) error {
		return run.Errorf(run.Unknown, "there is no %q here: /docs lists the endpoints", r.URL.Path)
	})))
	return a, a.prepared(mux), nil
}

// NewServer returns an http.Server with the bounds that a handler cannot set: how long
// headers may take, how large they may be, and how long a connection may be idle. It
// refuses requests from other websites.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler: ownSite(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	if log != nil {
		s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	}
	return s
}

// prepared sets the headers of every answer and the deadline of every body.
func (a *api) prepared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = a.limited(w, r.Body)
		}
		next.ServeHTTP(w, r)
	})
}

// guarded refuses requests whose caller may not use the endpoint.
func (a *api) guarded(next http.Handler) http.Handler {
	return a.answering(func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.caller(r)
		if err != nil {
			return err
		}
		next.ServeHTTP(w, r.WithContext(token.WithCaller(r.Context(), who)))
		return nil
	})
}

// handler answers a request or returns an error.
type handler func(w http.ResponseWriter, r *http.Request) error

// answering turns an error into a problem.
func (a *api) answering(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	})
}

// methods has the handlers of one path, by method.
type methods map[string]http.Handler

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := m[r.Method]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	m[""].ServeHTTP(w, r)
}

// routes are the endpoints by their paths.
func (a *api) routes() map[string]methods {
	paths := map[string]methods{}
	for _, e := range endpoints {
		h := a.answering(e.serve(a))
		switch e.access {
		case forCallers:
			h = a.guarded(h)
		case forNeighbours:
			h = a.withoutToken(h)
		}
		if paths[e.path] == nil {
			paths[e.path] = methods{}
		}
		paths[e.path][e.method] = h
		if e.method == http.MethodGet {
			paths[e.path][http.MethodHead] = h
		}
	}
	for _, m := range paths {
		allowed := slices.Sorted(maps.Keys(m))
		m[""] = a.guarded(a.answering(func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return withStatus(http.StatusMethodNotAllowed, run.Invalid, "%s is not allowed for %s: use %s", r.Method, r.URL.Path, strings.Join(allowed, " or "))
		}))
	}
	return paths
}

func who(ctx context.Context) token.Caller {
	caller, _ := token.CallerOf(ctx)
	return caller
}
