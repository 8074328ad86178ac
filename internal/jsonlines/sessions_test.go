package jsonlines

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fakeSession runs its steps with a function.
type fakeSession struct {
	step  func(ctx context.Context, req run.Request) (run.Result, error)
	files run.Files
	// variables lists them.
	variables func(ctx context.Context) ([]run.Variable, int, error)
	steps     atomic.Int64
	closed    atomic.Int64
}

func (f *fakeSession) Run(ctx context.Context, req run.Request) (run.Result, error) {
	return f.step(ctx, req)
}

func (f *fakeSession) Files() (run.Files, error) {
	if f.files == nil {
		return nil, run.Errorf(run.Unsupported, "it has no files")
	}
	return f.files, nil
}

func (f *fakeSession) Variables(ctx context.Context) ([]run.Variable, int, error) {
	return f.variables(ctx)
}

func (f *fakeSession) Close() error {
	f.closed.Add(1)
	return nil
}

// finished is the Result of a step.
func (f *fakeSession) finished(req run.Request, outcome run.Outcome, survived bool) run.Result {
	return run.Result{
		ID: req.ID, Status: outcome.Status(), Outcome: outcome, Error: string(outcome.ErrorType()),
		Step: &run.Step{Number: int(f.steps.Add(1)), Survived: survived},
	}
}

// untilCanceled ends with its context.
func (f *fakeSession) untilCanceled(ctx context.Context, req run.Request) (run.Result, error) {
	<-ctx.Done()
	return f.finished(req, run.Canceled, true), nil
}

// client is the other end of the pipes.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Scanner
	ended chan error
}

// answer is what the tests read of an answer.
type answer struct {
	ID, Status, Session, Outcome, Class, Error, Field string
	Step                                              *struct{ Number int }
	Files                                             []struct{ Name string }
	Variables                                         json.RawMessage // of a Result, or of a session
	File                                              *struct {
		Name   string
		Bytes  int
		Base64 []byte
	}
}

// serving returns a client of a server whose sessions are those of open.
func serving(t *testing.T, fixed Fixed, concurrent int, open func(run.SessionOptions) *fakeSession) *client {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t, toServer, bufio.NewScanner(fromServer), make(chan error, 1)}
	go func() {
		err := Serve(t.Context(), in, out, Options{Fixed: fixed, Concurrent: concurrent, OpenSession: func(_ context.Context, o run.SessionOptions) (Session, error) {
			return open(o), nil
		}})
		_ = out.Close()
		c.ended <- err
	}()
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Error(err)
	}
}

func (c *client) read() (a answer) {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatal("no answer")
	}
	if err := json.Unmarshal(c.out.Bytes(), &a); err != nil {
		c.t.Fatal(err)
	}
	return a
}

// readAll reads one answer for each id.
func (c *client) readAll(count int) map[string]answer {
	c.t.Helper()
	all := map[string]answer{}
	for range count {
		a := c.read()
		all[a.ID] = a
	}
	return all
}

// end ends the input and waits for the server.
func (c *client) end() {
	c.t.Helper()
	_ = c.in.Close()
	if c.out.Scan() {
		c.t.Errorf("another answer: %s", c.out.Text())
	}
	if err := <-c.ended; err != nil {
		c.t.Error(err)
	}
}

// Steps run in the order of their lines, whether the lines are answered one at a time or
// several at the same time.
func TestStepsRunInOrder(t *testing.T) {
	const count = 300
	for _, concurrent := range []int{1, 8} {
		var mu sync.Mutex
		var ran []string
		f := &fakeSession{}
		f.step = func(_ context.Context, req run.Request) (run.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, req.Script.Source)
			return f.finished(req, run.Succeeded, true), nil
		}
		c := serving(t, Fixed{}, concurrent, func(run.SessionOptions) *fakeSession { return f })
		c.send(`{"id": "open", "session": {}}`)
		if a := c.read(); a.Session != "s1" || a.Status != "ok" {
			t.Fatalf("%+v", a)
		}
		var lines, want []string
		for n := range count {
			lines = append(lines, fmt.Sprintf(`{"id": "%d", "step": {"session": "s1", "script": "%d"}}`, n, n))
			want = append(want, fmt.Sprint(n))
		}
		go c.send(lines...)
		for id, a := range c.readAll(count) {
			if a.Step == nil || fmt.Sprint(a.Step.Number-1) != id {
				t.Errorf("concurrent %d: the answer to line %s: %+v", concurrent, id, a)
			}
		}
		if strings.Join(ran, " ") != strings.Join(want, " ") {
			t.Errorf("concurrent %d: steps ran in the order %v", concurrent, ran)
		}
		c.end()
		if n := f.closed.Load(); n != 1 {
			t.Errorf("concurrent %d: closed %d times at the end of the input", concurrent, n)
		}
	}
}

// An interrupt, and a cancel of its line, cancel one step. The next step runs.
func TestInterruptCancelsRunningStep(t *testing.T) {
	for name, line := range map[string]string{"interrupt": `{"interrupt": "s1"}`, "cancel": `{"cancel": "spin"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeSession{}
				f.step = func(ctx context.Context, req run.Request) (run.Result, error) {
					if req.Script.Source == "spin" {
						return f.untilCanceled(ctx, req)
					}
					return f.finished(req, run.Succeeded, true), ctx.Err()
				}
				c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession { return f })
				c.send(`{"interrupt": "s1"}`, `{"id": "open", "session": {}}`)
				c.read()
				c.send(`{"interrupt": "s1"}`, `{"id": "spin", "step": {"session": "s1", "script": "spin"}}`, `{"id": "next", "step": {"session": "s1", "script": "pass"}}`)
				synctest.Wait()
				if n := f.steps.Load(); n != 0 {
					t.Errorf("%d steps ended before", n)
				}
				c.send(line)
				all := c.readAll(2)
				if all["spin"].Outcome != "canceled" || all["next"].Outcome != "succeeded" || all["next"].Step.Number != 2 {
					t.Errorf("%+v", all)
				}
				c.end()
			})
		})
	}
}

// A step that waits for an earlier one can be canceled, and later ones keep their order.
func TestCancelOfWaitingStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, release := &fakeSession{}, make(chan struct{})
		f.step = func(_ context.Context, req run.Request) (run.Result, error) {
			<-release
			return f.finished(req, run.Succeeded, true), nil
		}
		c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession { return f })
		c.send(`{"id": "open", "session": {}}`)
		c.read()
		c.send(`{"id": "a", "step": {"session": "s1", "script": "pass"}}`, `{"id": "b", "step": {"session": "s1", "script": "pass"}}`, `{"cancel": "b"}`)
		if a := c.read(); a.ID != "b" || a.Class != "closed" {
			t.Errorf("%+v", a)
		}
		close(release)
		if a := c.read(); a.ID != "a" || a.Outcome != "succeeded" {
			t.Errorf("%+v", a)
		}
		c.end()
	})
}

// Closing a session cancels its steps, also if they use all the turns.
func TestCloseCancelsSteps(t *testing.T) {
	for _, concurrent := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeSession{}
			f.step = f.untilCanceled
			c := serving(t, Fixed{}, concurrent, func(run.SessionOptions) *fakeSession { return f })
			c.send(`{"id": "open", "session": {}}`)
			c.read()
			c.send(`{"id": "runs", "step": {"session": "s1", "script": "pass"}}`, `{"id": "waits", "step": {"session": "s1", "script": "pass"}}`)
			synctest.Wait()
			c.send(`{"id": "close", "close": "s1"}`, `{"id": "late", "step": {"session": "s1", "script": "pass"}}`)
			all := c.readAll(4)
			if all["runs"].Outcome != "canceled" || all["waits"].Class != "closed" || all["close"].Status != "ok" || all["late"].Class != "unknown" {
				t.Errorf("%+v", all)
			}
			if want := errSessionClosed.Error(); all["waits"].Error != want {
				t.Errorf("error %q", all["waits"].Error)
			}
			if n := f.closed.Load(); n != 1 {
				t.Errorf("closed %d times", n)
			}
			c.end()
		})
	}
}

// What uses a session that a step has ended learns why it is gone.
func TestEndedSessionIsGone(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		step        func(f *fakeSession, req run.Request) (run.Result, error)
	}{
		{"killed", `the session "s1" is gone: step 1 ended it: memory_limit`, func(f *fakeSession, req run.Request) (run.Result, error) {
			return f.finished(req, run.OutOfMemory, false), nil
		}},
		{"failed", `the session "s1" is gone: the pipe broke`, func(*fakeSession, run.Request) (run.Result, error) {
			return run.Result{}, run.Errorf(run.Gone, "the pipe broke")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeSession{}
			f.step = func(_ context.Context, req run.Request) (run.Result, error) { return tt.step(f, req) }
			c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession { return f })
			c.send(`{"id": "open", "session": {}}`)
			c.read()
			c.send(`{"id": "a", "step": {"session": "s1", "script": "pass"}}`)
			c.read()
			for _, line := range []string{`{"id": "b", "step": {"session": "s1", "script": "pass"}}`, `{"id": "b", "close": "s1"}`} {
				c.send(line)
				if a := c.read(); a.Class != "gone" || a.Error != tt.words {
					t.Errorf("%s: %+v", line, a)
				}
			}
			c.end()
			if n := f.closed.Load(); n != 1 {
				t.Errorf("closed %d times", n)
			}
		})
	}
}

// No session is closed to make room for another: each has state.
func TestTooManySessionsAreRefused(t *testing.T) {
	c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession { return &fakeSession{} })
	for range maxSessions {
		c.send(`{"id": "a", "session": {}}`)
		if a := c.read(); a.Session == "" {
			t.Fatalf("%+v", a)
		}
	}
	c.send(`{"id": "a", "session": {}}`)
	if a := c.read(); a.Class != "busy" {
		t.Errorf("%+v", a)
	}
	c.send(`{"id": "a", "close": "s7"}`)
	c.read()
	c.send(`{"id": "a", "session": {}}`)
	if a, want := c.read(), fmt.Sprintf("s%d", maxSessions+1); a.Session != want {
		t.Errorf("%+v", a)
	}
	c.end()
}

// A session whose opening was canceled is closed again: nobody knows its id.
func TestCanceledOpeningIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, release := &fakeSession{}, make(chan struct{})
		c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession {
			<-release
			return f
		})
		c.send(`{"id": "open", "session": {}}`)
		synctest.Wait()
		c.send(`{"cancel": "open"}`)
		synctest.Wait()
		close(release)
		if a := c.read(); a.Class != "closed" || f.closed.Load() != 1 {
			t.Errorf("%+v, closed %d times", a, f.closed.Load())
		}
		c.end()
	})
}

func TestFixedValuesHoldForSessions(t *testing.T) {
	fixed := Fixed{Tier: policy.TierWasm, Trust: policy.TrustUser, OnOutputLimit: policy.OutputKill, Restricted: true}
	var opened run.SessionOptions
	var ran run.Request
	f := &fakeSession{}
	f.step = func(_ context.Context, req run.Request) (run.Result, error) {
		ran = req
		return f.finished(req, run.Succeeded, true), nil
	}
	c := serving(t, fixed, 4, func(o run.SessionOptions) *fakeSession {
		opened = o
		return f
	})
	c.send(`{"id": "a", "session": {"limits": {"wall_time": "2s"}}}`)
	c.read()
	c.send(`{"id": "a", "step": {"session": "s1", "script": "pass"}}`)
	c.read()
	if opened.Tier != fixed.Tier || opened.Trust != fixed.Trust || !opened.Restricted || opened.Limits.WallTime == 0 {
		t.Errorf("%+v", opened)
	}
	if ran.OnOutputLimit != fixed.OnOutputLimit || ran.ID != "a" {
		t.Errorf("%+v", ran)
	}
	for _, line := range []string{
		`{"id": "a", "session": {"tier": "process"}}`, `{"id": "a", "session": {"trust": "platform"}}`,
		`{"id": "a", "step": {"session": "s1", "script": "pass", "on_output_limit": "truncate"}}`,
	} {
		c.send(line)
		if a := c.read(); a.Class != "invalid" || !strings.Contains(a.Error, "is not what cordon was started with") {
			t.Errorf("%s: %+v", line, a)
		}
	}
	c.end()
}

func TestVariablesOfSessions(t *testing.T) {
	f := &fakeSession{}
	c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession { return f })
	c.send(`{"id": "open", "session": {}}`)
	c.read()
	for _, tt := range []struct {
		list    []run.Variable
		omitted int
		want    string
	}{
		{nil, 0, `"variables":[]`},
		{[]run.Variable{{Name: "x", Type: "list", Size: 72, Text: "[<1>]"}}, 0, `"variables":[{"name":"x","type":"list","bytes":72,"text":"[<1>]"}]`},
		{[]run.Variable{{Name: "x"}}, 7, `"variables":[{"name":"x","type":"","bytes":0,"text":""}],"omitted":7`},
	} {
		f.variables = func(context.Context) ([]run.Variable, int, error) { return tt.list, tt.omitted, nil }
		c.send(`{"id": "a", "variable_list": "s1"}`)
		if !c.out.Scan() || c.out.Text() != `{"v":1,"id":"a","status":"ok",`+tt.want+`}` {
			t.Error(c.out.Text())
		}
	}
	f.variables = func(context.Context) ([]run.Variable, int, error) {
		return nil, 0, run.Errorf(run.Gone, "it has ended")
	}
	for range 2 { // later uses know that it has ended
		c.send(`{"id": "a", "variable_list": "s1"}`)
		if a := c.read(); a.Class != "gone" || !strings.Contains(a.Error, "it has ended") {
			t.Errorf("%+v", a)
		}
		f.variables = nil
	}
	c.end()
	if n := f.closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

// They are held until the client has read them.
func TestUnreadVariables(t *testing.T) {
	s := &server{}
	s.room = sync.NewCond(&s.mu)
	release := s.hold(variables{Variables: make([]run.Variable, 1000)})
	if s.unsent < 200_000 {
		t.Errorf("%d bytes are held", s.unsent)
	}
	if release(); s.unsent != 0 {
		t.Errorf("%d bytes are still held", s.unsent)
	}
}

// Variables are those that the steps before have left. An interrupt is for a step, and not for
// the list; a cancel ends the list.
func TestVariablesHaveTheOrderOfTheirLines(t *testing.T) {
	for _, concurrent := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			f, release := &fakeSession{}, make(chan struct{})
			f.step = func(_ context.Context, req run.Request) (run.Result, error) {
				<-release
				return f.finished(req, run.Succeeded, true), nil
			}
			f.variables = func(context.Context) ([]run.Variable, int, error) {
				return []run.Variable{{Name: fmt.Sprint("step", f.steps.Load())}}, 0, nil
			}
			c := serving(t, Fixed{}, concurrent, func(run.SessionOptions) *fakeSession { return f })
			c.send(`{"id": "open", "session": {}}`)
			c.read()
			c.send(`{"id": "one", "step": {"session": "s1", "script": "pass"}}`, `{"id": "list", "variable_list": "s1"}`,
				`{"id": "two", "step": {"session": "s1", "script": "pass"}}`)
			synctest.Wait()
			close(release)
			all := c.readAll(3)
			if list := string(all["list"].Variables); !strings.Contains(list, `"step1"`) {
				t.Errorf("concurrent %d: %s", concurrent, list)
			}
			f.variables = func(ctx context.Context) ([]run.Variable, int, error) {
				<-ctx.Done()
				return nil, 0, ctx.Err()
			}
			c.send(`{"id": "cancel", "variable_list": "s1"}`, `{"interrupt": "s1"}`)
			synctest.Wait()
			c.send(`{"cancel": "cancel"}`)
			if a := c.read(); a.ID != "cancel" || a.Class != "closed" {
				t.Errorf("%+v", a)
			}
			c.end()
		})
	}
}

func TestWrongSessionLines(t *testing.T) {
	c := serving(t, Fixed{}, 4, func(run.SessionOptions) *fakeSession { return &fakeSession{} })
	for _, tt := range []struct{ line, class, field, words string }{
		{`{"session": {"limit": {}}}`, "invalid", "limit", "unknown field"},
		{`{"session": {"limits": {"memory": 7}}}`, "invalid", "limits.memory", "unit"},
		{`{"session": []}`, "invalid", "", "expected a JSON object"},
		{`{"session": {}, "limits": {"memory": "1MiB"}}`, "invalid", "session", "beside"},
		{`{"step": {"script": "pass"}}`, "invalid", "session", "missing"},
		{`{"step": {"session": 1}}`, "invalid", "session", "expected a string"},
		{`{"step": {"session": "s1", "id": "b"}}`, "invalid", "id", "beside step"},
		{`{"step": {"session": "s1"}, "variables": ["x"]}`, "invalid", "step", "beside"},
		{`{"step": {"session": "s1", "scirpt": "pass"}}`, "invalid", "scirpt", "unknown field"},
		{`{"step": {"session": "s1"}, "close": "s1"}`, "invalid", "", "one thing"},
		{`{"script": "pass", "interrupt": "s1"}`, "invalid", "", "one thing"},
		{`{"step": {"session": "s1", "script": "pass"}}`, "unknown", "", `no session has the id "s1"`},
		{`{"step": {"session": "1", "script": "pass"}}`, "unknown", "", "no session"},
		{`{"close": "s1"}`, "unknown", "", "no session"},
		{`{"variable_list": {}}`, "invalid", "variable_list", "expected a string"},
		{`{"variable_list": "s1"}`, "unknown", "", "no session"},
		{`{"variable_list": "s1", "now": true}`, "invalid", "now", "is for the orders of files"},
		{`{"variable_list": "s1", "variables": ["x"]}`, "invalid", "variable_list", "has fields of a run beside it: leave them out"},
		{`{"variable_list": "s1", "file_list": "s1"}`, "invalid", "", "one thing"},
		{`{"close": "1"}`, "unknown", "", "no hook"},
	} {
		c.send(tt.line)
		if a := c.read(); a.Class != tt.class || a.Field != tt.field || !strings.Contains(a.Error, tt.words) {
			t.Errorf("%s: %+v", tt.line, a)
		}
	}
	c.end()
}
