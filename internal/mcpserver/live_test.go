package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// talker is a Runner whose guest writes for some seconds.
type talker struct {
	fakeRunner
	seconds int
	line    string
}

func (r talker) Run(ctx context.Context, request run.Request) (run.Result, error) {
	for range r.seconds * 10 {
		if request.Streams.Out != nil { // the client wants live output
			if _, err := request.Streams.Out.Write([]byte(r.line)); err != nil {
				return run.Result{}, err
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return run.Result{}, ctx.Err()
		}
	}
	return r.fakeRunner.Run(ctx, run.Request{Script: run.Script{Source: "print"}})
}

// notifications are those that a client receives before the response.
type notifications struct {
	progress []float64
	logs     []string
}

// follow runs a guest that writes while a client listens, on a clock of its own.
func follow(t *testing.T, r service.Runner, token, level string) (received notifications) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.Runner = r }))
		c.send(t, initializeLine)
		c.receive(t)
		c.send(t, initializedLine)
		if level != "" {
			c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":%q}}`, level))
			c.receive(t)
		}
		line := callLine(2, "print")
		if token != "" {
			line = strings.Replace(line, `"params":{`, `"params":{"_meta":{"progressToken":`+token+`},`, 1)
		}
		c.send(t, line)
		for {
			var m struct {
				ID     any
				Method string
				Params struct {
					Progress float64
					Data     string
				}
			}
			if err := json.Unmarshal(c.receive(t), &m); err != nil {
				t.Fatal(err)
			}
			switch {
			case m.ID != nil:
				return
			case m.Method == "notifications/progress":
				received.progress = append(received.progress, m.Params.Progress)
			case m.Method == "notifications/message":
				received.logs = append(received.logs, m.Params.Data)
			}
		}
	})
	return received
}

func TestProgressComesEachSecondIfAsked(t *testing.T) {
	got := follow(t, talker{seconds: 4, line: "x"}, `"a token"`, "")
	if fmt.Sprint(got.progress) != "[1 2 3]" && fmt.Sprint(got.progress) != "[1 2 3 4]" {
		t.Errorf("progress at %v", got.progress)
	}
	if len(got.logs) != 0 {
		t.Errorf("logs that nobody asked for: %q", got.logs)
	}
	if got := follow(t, talker{seconds: 3, line: "x"}, "", ""); len(got.progress) != 0 {
		t.Errorf("progress that nobody asked for: %v", got.progress)
	}
}

func TestLiveOutputIsSent(t *testing.T) {
	got := follow(t, talker{seconds: 2, line: "tick\n"}, "", "info")
	text := strings.Join(got.logs, "")
	if n := strings.Count(text, "tick\n"); n < 15 || len(got.logs) > 9 {
		t.Errorf("%d of 20 lines in %d messages: %q", n, len(got.logs), got.logs)
	}
	if got := follow(t, talker{seconds: 2, line: "tick\n"}, "", "error"); len(got.logs) != 0 {
		t.Errorf("a client that only wants errors gets %q", got.logs)
	}
}

func TestLiveOutputIsBounded(t *testing.T) {
	got := follow(t, talker{seconds: 20, line: strings.Repeat("x", 50<<10)}, "", "info")
	text := strings.Join(got.logs, "")
	if len(text) < 60<<10 || len(text) > 66<<10 {
		t.Errorf("%d bytes were sent", len(text))
	}
	if strings.Count(text, "more output is not shown here") != 1 {
		t.Errorf("the note about more output does not come exactly once: %q", got.logs[:3])
	}
	for _, message := range got.logs {
		if len(message) > 9<<10 {
			t.Errorf("a message of %d bytes", len(message))
		}
	}
}

// TestWaitingHasAnEnd checks that a request that gets no turn in time is refused as busy.
func TestWaitingHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.Runner = stuck{} }))
		c.send(t, initializeLine)
		c.receive(t)
		c.send(t, initializedLine)
		began := time.Now()
		c.send(t, callLine(2, "print"))
		answer := string(c.receive(t))
		if waited := time.Since(began); waited != 90*time.Second || !strings.Contains(answer, "it waited for 1m0s and did not get its turn") {
			t.Errorf("after %v: %s", waited, answer)
		}
	})
}

// stuck is a Runner that never starts a guest.
type stuck struct{ fakeRunner }

func (stuck) Run(ctx context.Context, _ run.Request) (run.Result, error) {
	<-ctx.Done()
	return run.Result{}, ctx.Err()
}

// listener records whether a run has live streams.
type listener struct {
	fakeRunner
	streams *bool
}

func (r listener) Run(ctx context.Context, request run.Request) (run.Result, error) {
	*r.streams = request.Streams.Out != nil
	return r.fakeRunner.Run(ctx, request)
}

// TestStreamsOnlyForListeners checks that only clients that want live streams get them,
// because they take longer than the rest of the frontend.
func TestStreamsOnlyForListeners(t *testing.T) {
	var streams bool
	follow(t, listener{streams: &streams}, `1`, "")
	if streams {
		t.Error("a client that has set no level has live streams")
	}
	follow(t, listener{streams: &streams}, "", "debug")
	if !streams {
		t.Error("a client that has set a level has none")
	}
	w := startWeb(t, fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.Runner = listener{streams: &streams} }))
	for _, row := range []struct {
		name, line string
		newest     bool
		want       bool
	}{
		{"a request without a session", callLine(2, "print"), false, false},
		{"one of the newest revision", newestLine(2, "print"), true, false},
		{"one of the newest revision that wants logs", strings.Replace(newestLine(2, "print"), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1), true, true},
	} {
		w.headers = map[string]string{}
		if row.newest {
			w.newest()
		}
		streams = !row.want
		if status, answer := w.roundTrip(t, "POST", "/mcp", row.line); status != 200 || streams != row.want {
			t.Errorf("%s: live streams: %v (%d %s)", row.name, streams, status, answer)
		}
	}
}
