package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	// maxEnded is how many ended sessions an owner has that it did not open again: the next
	// call with their name says why the state is gone.
	maxEnded = 32
	// maxReason bounds that reason, which may have words of the guest.
	maxReason = 500
	// maxOpenings is how many sessions one call opens, if they end before its step begins.
	maxOpenings = 3
)

// sessionName is what a model may call a session.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

const sessionNameWords = "1 to 64 letters, digits, '.', '_' or '-'"

// namedSessions are the sessions of one owner, by the names that its model chose. The owner is
// a token. Callers without one all have the same name, so there each connection is an owner.
type namedSessions struct {
	service *service.Service
	who     token.Caller
	once    sync.Once // closes them

	mu     sync.Mutex
	open   map[string]*namedSession
	ended  []endedSession // the last ones; names that are open are not among them
	closed bool
}

// namedSession is open, or about to be.
type namedSession struct {
	tried chan struct{} // closed when it is open, or could not be opened
	// These are set before that.
	id     string // that of the service; empty if it could not be opened
	before string // why the one before it with this name ended; empty if there was none

	noted atomic.Bool // an answer has said that it is new
}

type endedSession struct{ name, why string }

type singleKey struct{}

// withoutConnection marks a request that does not belong to a connection.
func withoutConnection(ctx context.Context) context.Context {
	return context.WithValue(ctx, singleKey{}, true)
}

// sessionsOf returns the sessions that a request of a connection can name.
func (d *frontend) sessionsOf(ctx context.Context, connection *mcp.ServerSession) (*namedSessions, error) {
	if d.who.Name != token.Local.Name {
		connection = nil // they belong to the token
	} else {
		if ctx.Value(singleKey{}) != nil {
			return nil, run.Errorf(run.Forbidden, "session: a session belongs to a token or to an MCP connection, and this request has neither: let the client send a token or begin with initialize")
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errOwnerEnded()
	}
	owned := d.named[connection]
	if owned == nil {
		owned = &namedSessions{service: d.server.Service, who: d.who, open: map[string]*namedSession{}}
		d.named[connection] = owned
		if connection != nil {
			d.server.closing.Go(func() {
				_ = connection.Wait() // ServeStdio and the handlers report it
				d.closeSessionsOf(connection, owned)
			})
		}
	}
	return owned, nil
}

// errOwnerEnded is the answer to a call that arrives while the sessions of its owner close.
func errOwnerEnded() error {
	return run.Errorf(run.Closed, "the connection has ended, or the rights of the token have changed: call again")
}

// closeSessionsOf closes the sessions of a connection that has ended.
func (d *frontend) closeSessionsOf(connection *mcp.ServerSession, owned *namedSessions) {
	owned.close(d.server)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.named[connection] == owned {
		delete(d.named, connection)
	}
}

// closeEnded closes the sessions of all connections that have ended, and waits for it.
func (d *frontend) closeEnded() {
	d.mu.Lock()
	ended := maps.Clone(d.named)
	d.mu.Unlock()
	for connection := range d.mcp.Sessions() {
		delete(ended, connection)
	}
	for connection, owned := range ended {
		if connection != nil {
			d.closeSessionsOf(connection, owned)
		}
	}
}

// closeSessions closes all sessions. No other can be opened.
func (d *frontend) closeSessions() {
	d.mu.Lock()
	d.closed = true
	all := slices.Collect(maps.Values(d.named))
	clear(d.named)
	d.mu.Unlock()
	for _, owned := range all {
		owned.close(d.server)
	}
}

// close closes the sessions of an owner, with their running steps.
func (s *namedSessions) close(server *Server) {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		all := slices.Collect(maps.Values(s.open))
		s.mu.Unlock()
		for _, one := range all {
			<-one.tried
			if one.id == "" {
				continue
			}
			if err := s.service.CloseSession(s.who, one.id); err != nil {
				server.Logger.Debug("a named session has ended already", "error", err)
			}
		}
	})
}

// use returns the session with a name. It opens one if there is none.
func (s *namedSessions) use(ctx context.Context, name string, o run.SessionOptions) (*namedSession, error) {
	for {
		one, isNew, err := s.find(name)
		switch {
		case err != nil:
			return nil, err
		case isNew:
			return one, s.tryOpen(ctx, name, one, o)
		}
		if open, err := one.wait(ctx); open || err != nil {
			return one, err
		}
	}
}

// wait waits until a session is open. It is not if the call that wanted to open it failed,
// perhaps because it was canceled.
func (one *namedSession) wait(ctx context.Context) (open bool, err error) {
	select {
	case <-one.tried:
		return one.id != "", nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// existing returns the open session with a name.
func (s *namedSessions) existing(ctx context.Context, name string) (*namedSession, error) {
	s.mu.Lock()
	one, closed := s.open[name], s.closed
	s.mu.Unlock()
	if closed {
		return nil, errOwnerEnded()
	}
	if one != nil {
		if open, err := one.wait(ctx); open || err != nil {
			return one, err
		}
	}
	return nil, s.missing(name)
}

// missing returns the error about a session that is not open, with those that are.
func (s *namedSessions) missing(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetEnded()
	words := "run_python and write_file open one"
	if names := slices.Sorted(maps.Keys(s.open)); len(names) > 0 {
		words = "yours are " + strings.Join(names, ", ")
	}
	why := ""
	for _, e := range s.ended {
		if e.name == name {
			why = " (the last one ended because " + e.why + ")"
		}
	}
	return run.Errorf(run.Unknown, "there is no session %s%s: %s", name, why, words)
}

// names lists the sessions that are open or about to be.
func (s *namedSessions) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// find returns the session with a name. If it is new, the caller opens it.
func (s *namedSessions) find(name string) (one *namedSession, isNew bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, errOwnerEnded()
	}
	if one = s.open[name]; one != nil {
		return one, false, nil
	}
	s.forgetEnded()
	one = &namedSession{tried: make(chan struct{})}
	s.open[name] = one
	return one, true, nil
}

// forgetEnded removes sessions that the service has closed meanwhile. Otherwise a model that
// uses each name once would fill the memory.
func (s *namedSessions) forgetEnded() {
	for name, one := range s.open {
		select {
		case <-one.tried:
			if _, err := s.service.Session(s.who, one.id); err != nil {
				s.remove(name, whyGone(err))
			}
		default:
		}
	}
}

// tryOpen opens a new session. Other calls that name it wait until it returns.
func (s *namedSessions) tryOpen(ctx context.Context, name string, one *namedSession, o run.SessionOptions) (err error) {
	opened := ""
	defer func() { // also after a panic, which the other calls survive
		s.mu.Lock()
		defer s.mu.Unlock()
		if one.id = opened; opened == "" {
			delete(s.open, name)
			err = s.withNames(err)
		} else {
			one.before = s.takeReason(name)
		}
		close(one.tried)
	}()
	opened, err = s.service.OpenSession(ctx, s.who, o)
	return err
}

// takeReason returns why the last session with a name ended, and forgets it.
func (s *namedSessions) takeReason(name string) (why string) {
	s.ended = slices.DeleteFunc(s.ended, func(e endedSession) bool {
		if e.name == name {
			why = e.why
		}
		return e.name == name
	})
	return why
}

// withNames says what a model can do if no more sessions can be opened.
func (s *namedSessions) withNames(err error) error {
	var queue *admission.Busy
	if run.ClassOf(err) != run.Busy || errors.As(err, &queue) {
		return err
	}
	words := "leave session out"
	if names := slices.Sorted(maps.Keys(s.open)); len(names) > 0 {
		words = "go on in one of yours (" + strings.Join(names, ", ") + "), or " + words
	}
	return run.Errorf(run.Busy, "no more sessions can be open: %s. A session that nobody uses is closed after a while", words)
}

// end forgets a session that has ended. The next one with its name says why.
func (s *namedSessions) end(name string, one *namedSession, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[name] == one {
		s.remove(name, why)
	}
}

func (s *namedSessions) remove(name, why string) {
	delete(s.open, name)
	if len(s.ended) == maxEnded {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, endedSession{name, text.Shorten(text.Line(why), maxReason)})
}

// runStep returns a runner for a step of a named session, which it opens if needed.
func (d *frontend) runStep(sessions *namedSessions, name string) runner {
	return func(ctx context.Context, request run.Request) (answer service.Answer, notes []string, err error) {
		for range maxOpenings {
			var one *namedSession
			one, err = inTime(ctx, maxWait, func(ctx context.Context) (*namedSession, error) {
				// Memory belongs to the session. The other arguments are for this step.
				return sessions.use(ctx, name, run.SessionOptions{Limits: policy.Limits{Memory: request.Limits.Memory}})
			})
			if err != nil {
				return answer, nil, err
			}
			var began atomic.Bool
			answer, err = inTime(ctx, d.wallTime(request)+maxWait, func(ctx context.Context) (service.Answer, error) {
				return d.server.Service.Step(service.Follow(ctx, "", func() { began.Store(true) }), d.who, observe.MCP, one.id, request)
			})
			switch class := run.ClassOf(err); {
			case err == nil:
				return answer, sessions.afterStep(name, one, answer.Result), nil
			case class == run.Gone && began.Load():
				sessions.end(name, one, err.Error())
				return answer, nil, run.Errorf(run.Gone, "%w. The code may have run in part, and the next call with this name opens a new session", err)
			case class == run.Gone || class == run.Unknown && !began.Load():
				sessions.end(name, one, whyGone(err)) // before this step: go on in a new one
			default:
				return answer, nil, err
			}
		}
		return answer, nil, err
	}
}

// afterStep forgets a session that the step ended. It returns what a model should know first:
// that the state of an earlier session is lost.
func (s *namedSessions) afterStep(name string, one *namedSession, r run.Result) (notes []string) {
	if r.Step == nil {
		return nil
	}
	if r.Step.Number == 1 && one.before != "" {
		one.noted.Store(true)
		notes = append(notes, newSessionWords(one))
	}
	if !r.Step.Survived {
		s.end(name, one, stepEnd(r))
	}
	return notes
}

func newSessionWords(one *namedSession) string {
	return "This is a new session: the one before ended because " + one.before + "."
}

// whyGone returns why a session is no longer open, from the service's error about it.
func whyGone(err error) string {
	if run.ClassOf(err) == run.Unknown {
		return "it was closed"
	}
	var ended *opened.Ended
	if errors.As(err, &ended) {
		return ended.Why
	}
	return err.Error()
}

// stepEnd describes a step that ended its session.
func stepEnd(r run.Result) string {
	return fmt.Sprintf("step %d ended it: %s", r.Step.Number, cmp.Or(r.Error, string(r.Outcome)))
}
