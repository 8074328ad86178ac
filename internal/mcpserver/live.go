//lint:file-ignore SA1019 Live output goes out as log messages, which the newest revision deprecates and has nothing instead of.

package mcpserver

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/run"
)

// What a client hears of a run under way is bounded in rate and in size, whatever the
// guest writes: all of it that counts is in the answer.
const (
	progressEach = time.Second
	outputEach   = 250 * time.Millisecond
	mostLive     = 64 << 10 // bytes told of one run
	mostMessage  = 8 << 10  // bytes in one log message
)

// withLogging says that there are log messages.
func withLogging(c *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	c.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // see the top of the file
	return c
}

// live tells a client of a run under way. Short runs tell nothing.
type live struct {
	call     call
	began    time.Time
	limit    time.Duration
	progress bool // the client asked for it

	stop, stopped chan struct{}

	mu      sync.Mutex
	waiting [2]strings.Builder // stdout and stderr, not yet told
	told    int                // bytes
	cut     bool
}

// follow has what the guest of a request writes told while it runs, if the client wants
// to hear it; it is nil for those who do not. Live streams cost a run more than all the
// rest of this frontend.
func (d *frontend) follow(ctx context.Context, c call, request *run.Request) *live {
	l := &live{call: c, began: time.Now(), limit: request.Limits.WallTime, stop: make(chan struct{}), stopped: make(chan struct{})}
	if l.limit == 0 {
		l.limit = d.info.Limits.WallTime
	}
	l.progress = c.request.Params.GetProgressToken() != nil
	logs := wantsLogs(ctx, c.request.Session)
	if logs {
		request.Streams = run.Streams{Out: stream{l, 0}, Err: stream{l, 1}}
	}
	if !logs && !l.progress {
		return nil
	}
	go l.tell(ctx, d)
	return l
}

type (
	probeKey    struct{}
	withoutLogs struct{}
)

// wantsLogs finds out whether a log message would be sent. The SDK knows the level that a
// client wants, by its session or by its request, and does not tell; so one is sent that
// answerProbes keeps back.
func wantsLogs(ctx context.Context, session *mcp.ServerSession) bool {
	if ctx.Value(withoutLogs{}) != nil {
		return false
	}
	would := false
	ctx = context.WithValue(ctx, probeKey{}, &would)
	//nolint:staticcheck // see the top of the file
	err := session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: ""})
	return err == nil && would
}

// answerProbes is between the SDK and the wire.
func answerProbes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if would, ok := ctx.Value(probeKey{}).(*bool); ok {
			*would = true
			return nil, nil
		}
		return next(ctx, method, r)
	}
}

// end returns when nothing more will be sent: the answer comes last.
func (l *live) end() {
	if l == nil {
		return
	}
	close(l.stop)
	<-l.stopped
}

func (l *live) tell(ctx context.Context, d *frontend) {
	defer close(l.stopped)
	ticks := time.NewTicker(outputEach)
	defer ticks.Stop()
	next := l.began.Add(progressEach)
	for {
		select {
		case <-l.stop:
			return
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			var err error
			for i, name := range []string{"stdout", "stderr"} {
				if text := l.take(i); text != "" && err == nil {
					//nolint:staticcheck // see the top of the file
					err = l.call.request.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: name, Data: text})
				}
			}
			if err == nil && l.progress && !now.Before(next) {
				next = next.Add(progressEach)
				err = l.tellProgress(ctx, now)
			}
			if err != nil {
				// The client is gone, or does not listen. Its run goes on until somebody
				// knows for sure.
				d.server.Logger.Debug("cannot tell a client of its run", "error", err)
				return
			}
		}
	}
}

func (l *live) tellProgress(ctx context.Context, now time.Time) error {
	since := now.Sub(l.began)
	return l.call.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: l.call.request.Params.GetProgressToken(),
		Progress:      since.Seconds(), Total: l.limit.Seconds(),
		Message: fmt.Sprintf("running for %v of at most %v", since.Round(time.Second), l.limit),
	})
}

// take returns the part of a stream to send now.
func (l *live) take(i int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.ToValidUTF8(l.waiting[i].String(), "\uFFFD")
	l.waiting[i].Reset()
	return text
}

// stream is one of the guest's, as it is written.
type stream struct {
	live *live
	of   int
}

var _ io.Writer = stream{}

// Write never blocks and never fails: a client that is slow must not slow the guest.
func (s stream) Write(p []byte) (int, error) {
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &l.waiting[s.of]
	room := min(len(p), mostMessage-w.Len(), mostLive-l.told)
	if room > 0 {
		w.Write(p[:room])
		l.told += room
	}
	if room < len(p) && !l.cut {
		l.cut = true
		w.WriteString("\n… more than is shown here; the answer has it\n")
	}
	return len(p), nil
}
