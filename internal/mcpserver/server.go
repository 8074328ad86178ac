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
	// Version is shown to clients.
	Version string
	// Logger is for the operator; nil is silent. It must not write to stdout.
	Logger *slog.Logger
	// Commands offers run_command, to callers whose ceiling allows commands.
	Commands bool
	// Workspace is the directory in which commands work; empty means their private /tmp.
	Workspace string
}

// maxMessage bounds one message of a client.
const maxMessage = 8 << 20

// Server answers agents. It is safe for concurrent use. One that serves HTTP must be
// closed.
type Server struct {
	Options
	mu      sync.Mutex
	callers map[string]*frontend // by the caller's name
	calls   calls
	closing sync.WaitGroup // of sessions that nobody can use
}

// New gives a server over a service, which stays the caller's to close, after all that
// the server serves has ended.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{Options: o, callers: map[string]*frontend{}}
}

// frontend is what one caller sees: the tools in words that are true for them.
type frontend struct {
	server *Server
	who    token.Caller
	info   service.Info
	mcp    *mcp.Server
	// tag begins the ids of this frontend's sessions, so that nobody can use another's, and
	// nobody goes on with a ceiling that has been changed.
	tag string
}

// frontendOf gives the frontend of a caller as they are now.
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
		// Nobody can use its sessions any more; what runs in them may end.
		s.closing.Go(func() { old.close(false) })
	}
	return d
}

// Close ends all sessions, and what is under way in them. Call it when nothing is served
// any more.
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

// close ends the sessions of a frontend, with what is under way in them or after it.
func (d *frontend) close(now bool) {
	for session := range d.mcp.Sessions() {
		if now {
			d.server.calls.endSession(session.ID())
		}
		if err := session.Close(); err != nil {
			d.server.Logger.Debug("a session ended", "error", err)
		}
	}
}

func (s *Server) newFrontend(who token.Caller) *frontend {
	d := &frontend{server: s, who: who, info: s.Service.Info(who), tag: rand.Text()[:8]}
	d.info.Commands = d.info.Commands && s.Commands
	d.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "cordon", Title: "cordon: runs untrusted code behind walls", Version: s.Version},
		fixtureOptions(&mcp.ServerOptions{
			Instructions: instructions(d.info, d.reads()),
			Logger:       s.sdkLogger(),
			// Tools do not change while a client is there.
			Capabilities: withLogging(&mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}),
			// One caller's tools are not another's.
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
			GetSessionID: func() string { return d.tag + "-" + rand.Text() },
		}))
	d.addTools()
	d.mcp.AddSendingMiddleware(answerProbes)
	if !hasFixtures {
		d.mcp.AddReceivingMiddleware(declaredOnly)
	}
	addFixtures(d.mcp)
	return d
}

// reads lists what guests may read of the host.
func (d *frontend) reads() []string { return d.server.Service.Policy.Read }

// declaredOnly answers what we do not have as a server should that does not have it. The
// SDK would give empty lists.
func declaredOnly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		for _, family := range []string{"prompts/", "resources/", "completion/"} {
			if strings.HasPrefix(method, family) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q: there are tools here", method)}
			}
		}
		return next(ctx, method, r)
	}
}

// ServeStdio serves one client until in ends or ctx does, and then ends what is under
// way. Nothing but the protocol is written to out.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	// What is under way ends with its connection, as the SDK has it, and with ctx.
	err := s.frontendOf(token.Local).mcp.Run(withClient(ctx, ctx), &stdio{in: in, out: out, answers: s.Service.Answers})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
