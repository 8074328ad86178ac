package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
)

// Options are the parts of a Server.
type Options struct {
	Service *service.Service
	// Version is the version that clients see.
	Version string
	// Logger is for the operator; nil discards the log. It must not write to stdout.
	Logger *slog.Logger
	// Commands offers run_command to callers whose ceiling allows commands.
	Commands bool
	// Workspace is the directory in which commands run; empty means their private /tmp.
	Workspace string
}

// maxMessage is the largest size of a client's message.
const maxMessage = 8 << 20

// Server answers agents. It is safe for concurrent use. A Server that serves HTTP must be
// closed.
type Server struct {
	Options
	mu      sync.Mutex
	callers map[string]*frontend // by the caller's name
	calls   calls
	closing sync.WaitGroup // sessions of replaced frontends and of connections that have ended
}

// New returns a server for a service. The caller closes the service when the server no
// longer serves anything.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{Options: o, callers: map[string]*frontend{}}
}

// frontend is the MCP server of one caller: its tools and their descriptions depend on what
// the caller may do.
type frontend struct {
	server *Server
	who    token.Caller
	info   service.Info
	mcp    *mcp.Server
	// tag is the prefix of the ids of this frontend's sessions. A caller cannot use the
	// session of another caller, or one that began before its own ceiling changed.
	tag string
	// filesInUse has an element for each request about files that is under way.
	filesInUse chan struct{}

	mu     sync.Mutex
	named  map[*mcp.ServerSession]*namedSessions // by connection, nil for the token
	closed bool
}

// frontendOf returns the frontend of a caller. It makes a new one if the caller changed.
func (s *Server) frontendOf(who token.Caller) *frontend {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.callers[who.Name]
	if old != nil && reflect.DeepEqual(old.who, who) {
		return old
	}
	d := s.newFrontend(who)
	s.callers[who.Name] = d
	if old != nil {
		// Its sessions can no longer be used; their calls may finish.
		s.closing.Go(func() { old.close(false) })
	}
	return d
}

// Close ends all sessions and cancels their calls. Call it when the handlers no longer serve
// requests.
func (s *Server) Close() {
	s.mu.Lock()
	frontends := slices.Collect(maps.Values(s.callers))
	clear(s.callers)
	s.mu.Unlock()
	for _, d := range frontends {
		d.close(true)
	}
	s.closing.Wait()
}

// close ends the sessions of a frontend. It cancels their calls first if now is true, and
// waits for them otherwise.
func (d *frontend) close(now bool) {
	for session := range d.mcp.Sessions() {
		if now {
			d.server.calls.endSession(session.ID())
		}
		if err := session.Close(); err != nil {
			d.server.Logger.Debug("a session ended", "error", err)
		}
	}
	d.closeSessions()
}

func (s *Server) newFrontend(who token.Caller) *frontend {
	d := &frontend{server: s, who: who, info: s.Service.Info(who), tag: rand.Text()[:8], named: map[*mcp.ServerSession]*namedSessions{}, filesInUse: make(chan struct{}, maxFileCalls)}
	d.info.Commands = d.info.Commands && s.Commands
	d.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "cordon", Title: "cordon: runs untrusted code behind walls", Version: s.Version},
		fixtureOptions(&mcp.ServerOptions{
			Instructions: instructions(d.info, d.reads()),
			Logger:       s.sdkLogger(),
			// The tools of a session do not change, and changes of files are not reported.
			Capabilities: withLogging(d.capabilities()),
			// Callers have different tools.
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
			GetSessionID: func() string { return d.tag + "-" + rand.Text() },
		}))
	d.addTools()
	d.mcp.AddSendingMiddleware(answerProbes)
	if d.hasFiles() {
		d.addResources()
	}
	if !hasFixtures {
		d.mcp.AddReceivingMiddleware(d.declaredOnly)
	}
	addFixtures(d.mcp)
	return d
}

// reads returns the paths of the host that guests may read.
func (d *frontend) reads() []string { return d.server.Service.Policy.Read }

func (d *frontend) capabilities() *mcp.ServerCapabilities {
	c := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if d.hasFiles() {
		c.Resources = &mcp.ResourceCapabilities{}
	}
	return c
}

// declaredOnly answers the methods of features that the server does not have with "method
// not found". The SDK would return empty lists.
func (d *frontend) declaredOnly(next mcp.MethodHandler) mcp.MethodHandler {
	missing := []string{"prompts/", "completion/"}
	if !d.hasFiles() {
		missing = append(missing, "resources/")
	}
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if slices.ContainsFunc(missing, func(family string) bool { return strings.HasPrefix(method, family) }) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
		}
		return next(ctx, method, r)
	}
}

// ServeStdio serves one client until in or ctx ends, and then cancels the calls that still
// run. It writes only protocol messages to out.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	// The SDK cancels calls when the connection ends; withClient cancels them with ctx, too.
	d := s.frontendOf(token.Local)
	err := d.mcp.Run(withClient(ctx, ctx), &stdio{in: in, out: out, answers: s.Service.Answers})
	d.closeEnded()
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
