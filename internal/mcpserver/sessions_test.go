package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// stepLine is a call of run_python in a session.
func stepLine(id int, session, code string) string {
	return strings.Replace(callLine(id, code), `"arguments":{`, fmt.Sprintf(`"arguments":{"session":%q,`, session), 1)
}

// wordsOf returns the texts of a tool's answer, one per line.
func wordsOf(t *testing.T, message map[string]any) string {
	t.Helper()
	result, _ := message["result"].(map[string]any)
	content, _ := result["content"].([]any)
	if content == nil {
		t.Fatalf("no answer of a tool: %v", message)
	}
	var words []string
	for _, part := range content {
		text, _ := part.(map[string]any)["text"].(string)
		words = append(words, strings.TrimSpace(text))
	}
	return strings.Join(words, "\n")
}

// steps is a client that runs steps: it returns the texts of an answer.
type steps func(session, code string) string

func (c *stdioClient) steps(t *testing.T) steps {
	c.send(t, initializeLine)
	c.receive(t)
	c.send(t, initializedLine)
	return func(session, code string) string {
		t.Helper()
		var message map[string]any
		c.send(t, stepLine(7, session, code))
		if err := json.Unmarshal(c.receive(t), &message); err != nil {
			t.Fatal(err)
		}
		return wordsOf(t, message)
	}
}

func (w *web) steps(t *testing.T) steps {
	return func(session, code string) string {
		t.Helper()
		line := stepLine(7, session, code)
		if w.headers["Mcp-Protocol-Version"] == "2026-07-28" {
			line = newestOf(line)
		}
		_, body := w.roundTrip(t, http.MethodPost, "/mcp", line)
		return wordsOf(t, answerIn(t, body))
	}
}

func (s steps) want(t *testing.T, session, code string, all ...string) {
	t.Helper()
	got := s(session, code)
	for _, want := range all {
		if !strings.Contains(got, want) {
			t.Errorf("%q in %s: %q, want %q", code, session, got, want)
		}
	}
}

// another is a client of the same server, with another connection.
func (w *web) another() *web {
	other := &web{at: w.at, headers: map[string]string{}}
	if secret := w.headers["Authorization"]; secret != "" {
		other.headers["Authorization"] = secret
	}
	return other
}

func TestSessionsKeepState(t *testing.T) {
	client := startStdio(t, fakeServer(t, nil))
	c := client.steps(t)
	c.want(t, "main", "set x 1", "It ran to its end and printed nothing.")
	c.want(t, "main", "get x", "1")
	c.want(t, "other", "get x", "unset")
	c.want(t, "main", "slow", "It reached a limit: time limit reached.", "The session goes on with its state.")
	c.want(t, "main", "get x", "1")
	// Without a session, a call is what it was.
	if got := client.ask(t, callLine(9, "print")); strings.Contains(fmt.Sprint(got.Result), "step") {
		t.Errorf("%v", got.Result)
	}
}

func TestConnectionsDoNotShareSessions(t *testing.T) {
	s := fakeServer(t, nil)
	w := startWeb(t, s)
	first, second := w.another(), w.another()
	first.begin(t)
	second.begin(t)
	clients := []steps{startStdio(t, s).steps(t), startStdio(t, s).steps(t), first.steps(t), second.steps(t)}
	for i, c := range clients {
		c.want(t, "main", "get x", "unset")
		c.want(t, "main", fmt.Sprintf("set x value%d", i))
	}
	for i, c := range clients {
		c.want(t, "main", "get x", fmt.Sprintf("value%d", i))
	}
}

func TestTokensShareSessionsAcrossConnections(t *testing.T) {
	w := startWeb(t, fakeServer(t, nil))
	w.headers["Authorization"] = "Bearer alice"
	first, second, newest, single := w.another(), w.another(), w.another(), w.another()
	first.begin(t)
	second.begin(t)
	newest.newest()
	newest.headers["Authorization"] = "Bearer alice"
	first.steps(t).want(t, "main", "set x 1")
	for _, other := range []*web{first, second, newest, single} {
		other.steps(t).want(t, "main", "get x", "1")
	}
	// The end of a connection is not the end of the state.
	first.roundTrip(t, http.MethodDelete, "/mcp", "")
	second.steps(t).want(t, "main", "get x", "1")

	mallory := w.another()
	mallory.headers["Authorization"] = "Bearer mallory"
	mallory.steps(t).want(t, "main", "get x", "unset")
	local := w.another()
	delete(local.headers, "Authorization")
	local.begin(t)
	local.steps(t).want(t, "main", "get x", "unset")
}

// A request with neither a token nor a connection has no owner to which a name could belong.
func TestSessionsNeedAnOwner(t *testing.T) {
	s := fakeServer(t, nil)
	w := startWeb(t, s)
	newest := w.another()
	newest.newest()
	for _, client := range []*web{w, newest} {
		client.steps(t).want(t, "main", "set x 1", "Nothing was run, since this is not allowed here: session: a session belongs to a token or to an MCP connection, and this request has neither: let the client send a token or begin with initialize, or leave session out")
	}
	if n := s.Service.OpenSessions(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
}

func TestImagesAreContent(t *testing.T) {
	c := startStdio(t, fakeServer(t, nil))
	c.steps(t)
	result := c.ask(t, stepLine(2, "main", "plot")).Result
	content, _ := json.Marshal(result["content"])
	const want = `[{"text":"drawn\n","type":"text"},{"text":"\u003cPlot\u003e","type":"text"},{"data":"iVBORw0KGgoAAAANSUhEUg==","mimeType":"image/png","type":"image"},{"text":"table","type":"text"}]`
	if string(content) != want {
		t.Errorf("the content is %s", content)
	}
	step, _ := json.Marshal(result["structuredContent"].(map[string]any)["step"])
	if string(step) != `{"display":[{"forms":{"text/plain":"\u003cPlot\u003e"}},{"forms":{"text/plain":"table"},"value":true}],"number":1,"survived":true}` {
		t.Errorf("the step is %s", step)
	}
}

func TestEndedSessionsSaySo(t *testing.T) {
	c := startStdio(t, fakeServer(t, nil)).steps(t)
	for _, row := range []struct {
		code        string
		lost, again string
	}{
		{"exhaust", "The session has ended, and its state is lost: step 2 ended it: memory limit reached. The next call with this name opens a new session.", "because step 2 ended it: memory limit reached."},
		{"exit", "The session has ended, and its state is lost: step 2 ended it: exit code 3.", "because step 2 ended it: exit code 3."},
		{"crash", "The session has ended, and its state is lost: the session ended: no answer. The code may have run in part, and the next call with this name opens a new session", "because the session ended: no answer."},
	} {
		c.want(t, row.code, "set x 1")
		c.want(t, row.code, row.code, row.lost)
		// A call that runs nothing does not use the message up.
		c.want(t, row.code, " ", "there is nothing to run")
		c.want(t, row.code, "get x", "unset", "This is a new session: the one before ended "+row.again)
		if got := c(row.code, "get x"); got != "unset" {
			t.Errorf("the second step: %q", got)
		}
	}
}

// A session can end while nobody uses it, and another frontend can close it.
func TestSessionsThatEndedBeforeACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeServer(t, nil)
		c := startStdio(t, s).steps(t)
		c.want(t, "main", "set x 1")
		<-time.After(31 * time.Minute)
		c.want(t, "main", "get x", "unset\nThis is a new session: the one before ended because ", "nobody used it for 30m0s.")
		if err := s.Service.CloseSession(token.Local, s.Service.Sessions(token.Local)[0].ID); err != nil {
			t.Fatal(err)
		}
		c.want(t, "main", "get x", "unset\nThis is a new session: the one before ended because it was closed.")

		// Names that nobody uses again are forgotten, and still have a reason.
		for i := range 20 {
			c.want(t, fmt.Sprint("old", i), "set x 1")
		}
		<-time.After(31 * time.Minute)
		for i := range 20 {
			c.want(t, fmt.Sprint("new", i), "set x 1")
		}
		c.want(t, "old7", "get x", "unset\nThis is a new session: the one before ended because ", "nobody used it for 30m0s.")
	})
}

func TestSessionsOfACallerAreBounded(t *testing.T) {
	s := fakeServer(t, nil)
	c := startStdio(t, s).steps(t)
	const most = 32
	for i := range most {
		c.want(t, fmt.Sprint("s", i), "set x 1", "printed nothing")
	}
	c.want(t, "more", "set x 1", "Nothing was run, since the sandbox is busy: no more sessions can be open: go on in one of yours (s0, s1, s10,", "or leave session out")
	c.want(t, "s5", "get x", "1")
	c.want(t, "s5", "exit", "The session has ended")
	c.want(t, "more", "get x", "unset")
	if n := s.Service.OpenSessions(); n != most {
		t.Errorf("%d sessions are open", n)
	}
}

func TestSessionsCloseWithTheirConnection(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, s *mcpserver.Server) (c steps, end func()){
		"stdio": func(t *testing.T, s *mcpserver.Server) (steps, func()) {
			c := startStdio(t, s)
			return c.steps(t), func() { c.in.Close() }
		},
		"streamable HTTP": func(t *testing.T, s *mcpserver.Server) (steps, func()) {
			w := startWeb(t, s)
			w.begin(t)
			return w.steps(t), func() { w.roundTrip(t, http.MethodDelete, "/mcp", "") }
		},
		"server-sent events": func(t *testing.T, s *mcpserver.Server) (steps, func()) {
			w := startWeb(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			return w.sseSteps(ctx, t), cancel
		},
		"the server closes": func(t *testing.T, s *mcpserver.Server) (steps, func()) {
			w := startWeb(t, s)
			w.begin(t)
			return w.steps(t), s.Close
		},
		"the server closes, with a token": func(t *testing.T, s *mcpserver.Server) (steps, func()) {
			w := startWeb(t, s)
			w.headers["Authorization"] = "Bearer alice"
			return w.steps(t), s.Close
		},
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{}, 10)
			c, end := begin(t, fakeServer(t, func(o *service.Options, _ *mcpserver.Options) {
				o.OpenSession = func(ctx context.Context, options run.SessionOptions) (service.Session, error) {
					s, err := openFake(ctx, options)
					return &closing{Session: s, closed: closed}, err
				}
			}))
			c.want(t, "main", "set x 1")
			c.want(t, "other", "set x 1")
			if len(closed) != 0 {
				t.Error("a session is closed before the end")
			}
			end()
			<-closed
			<-closed
		})
	}
}

// closing is a session that says when it is closed.
type closing struct {
	service.Session
	closed chan struct{}
	once   sync.Once
}

func (s *closing) Close() error {
	s.once.Do(func() { s.closed <- struct{}{} })
	return s.Session.Close()
}

// sseSteps opens a stream of server-sent events, which ends with ctx, and runs steps in it.
func (w *web) sseSteps(ctx context.Context, t *testing.T) steps {
	t.Helper()
	stream := w.do(ctx, t, http.MethodGet, "/sse", "")
	t.Cleanup(func() { stream.Body.Close() })
	lines := bufio.NewScanner(stream.Body)
	next := func() string {
		for lines.Scan() {
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
				return data
			}
		}
		t.Fatal("the stream has ended")
		return ""
	}
	at := next()
	send := func(line string) {
		if status, answer := w.roundTrip(t, http.MethodPost, at, line); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, answer)
		}
	}
	send(initializeLine)
	next()
	send(initializedLine)
	return func(session, code string) string {
		t.Helper()
		send(stepLine(7, session, code))
		return wordsOf(t, answerIn(t, next()))
	}
}

// The state of a session must not outlive the rights with which it was made.
func TestChangedCeilingEndsNamedSessions(t *testing.T) {
	who := &singleCaller{Name: "alice"}
	s := fakeServer(t, nil)
	w := startWebFor(t, s, who)
	w.headers["Authorization"] = "Bearer x"
	c := w.steps(t)
	c.want(t, "main", "set x 1")
	who.Ceiling = token.Ceiling{Restricted: true}
	c.want(t, "main", "get x", "unset")
	s.Close()
	if n := s.Service.OpenSessions(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
}

// openings records the sessions that are opened.
type openings struct {
	n       atomic.Int32
	mu      sync.Mutex
	options run.SessionOptions
}

func (o *openings) open(ctx context.Context, options run.SessionOptions) (service.Session, error) {
	o.n.Add(1)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.options = options
	return openFake(ctx, options)
}

// Calls that name the same new session at the same time open one.
func TestSimultaneousCallsOpenOneSession(t *testing.T) {
	var opened openings
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.OpenSession = opened.open })
	c := startStdio(t, s)
	c.steps(t)
	const calls = 20
	for i := range calls {
		c.send(t, stepLine(10+i, "main", "print x"))
	}
	numbers := map[float64]bool{}
	for range calls {
		var a rpcAnswer
		if err := json.Unmarshal(c.receive(t), &a); err != nil {
			t.Fatal(err)
		}
		step, _ := a.Result["structuredContent"].(map[string]any)["step"].(map[string]any)
		numbers[step["number"].(float64)] = true
	}
	if opened.n.Load() != 1 || len(numbers) != calls {
		t.Errorf("%d sessions were opened, and the steps are %v", opened.n.Load(), numbers)
	}
}

// A call that cannot open a session leaves nothing behind, and the next one tries again.
func TestSessionsThatCannotBeOpened(t *testing.T) {
	refuse := true
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) {
		o.OpenSession = func(ctx context.Context, options run.SessionOptions) (service.Session, error) {
			if refuse {
				return nil, run.Errorf(run.Unsupported, "no sessions on this system")
			}
			return openFake(ctx, options)
		}
	})
	c := startStdio(t, s).steps(t)
	for range 40 {
		c.want(t, "main", "set x 1", "Nothing was run, since this host cannot do it: no sessions on this system")
	}
	refuse = false
	c.want(t, "main", "get x", "unset")
}

// Memory belongs to the session; the other limits are those of a step.
func TestLimitsOfSteps(t *testing.T) {
	var opened openings
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.OpenSession = opened.open })
	c := startStdio(t, s)
	c.steps(t)
	ask := func(arguments string) string {
		a := c.ask(t, strings.Replace(stepLine(2, "main", "get x"), `"arguments":{`, `"arguments":{`+arguments, 1))
		return wordsOf(t, map[string]any{"result": a.Result})
	}
	if got := ask(`"memory":64,"timeout":2,"output_limit":100,`); got != "unset" {
		t.Error(got)
	}
	if opened.options.Limits != (policy.Limits{Memory: 64 * policy.MiB}) {
		t.Errorf("%+v", opened.options.Limits)
	}
	if got := ask(`"timeout":3,`); got != "unset" {
		t.Error(got)
	}
	if got := ask(`"memory":128,`); got != "Nothing was run, since the call is wrong: memory: the session was opened with 64MiB, and keeps it: open another session" {
		t.Error(got)
	}
	if got := ask(`"timeout":61,`); !strings.Contains(got, "timeout is 61") {
		t.Error(got)
	}
}

// A step whose client hangs up is interrupted, and its session goes on.
func TestCanceledStep(t *testing.T) {
	s := fakeServer(t, nil)
	client := startStdio(t, s)
	c := client.steps(t)
	c.want(t, "main", "set x 1")
	client.send(t, stepLine(50, "main", "block"))
	client.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":50}}`)
	client.send(t, stepLine(51, "main", "get x"))
	for {
		var a rpcAnswer
		if err := json.Unmarshal(client.receive(t), &a); err != nil {
			t.Fatal(err)
		}
		if a.ID == 51.0 {
			if got := wordsOf(t, map[string]any{"result": a.Result}); got != "1" {
				t.Error(got)
			}
			return
		}
	}
}

// Where there are no sessions, the tools do not mention them.
func TestWithoutSessions(t *testing.T) {
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.OpenSession = nil })
	c := startStdio(t, s)
	c.steps(t).want(t, "main", "set x 1", `there is no argument "session": give code,`)
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if list := string(c.receive(t)); strings.Contains(list, `"session"`) || strings.Contains(list, `"step"`) || !strings.Contains(list, "Nothing is kept between calls. ") {
		t.Error(list)
	}
}
