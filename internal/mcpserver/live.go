//lint:file-ignore SA1019 Live output is sent as log messages, which the newest revision deprecates without a replacement.

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

// Live updates about a run are bounded in rate and size, whatever the guest writes. The
// answer has the output in any case, up to its limits.
const (
	progressInterval = time.Second
	outputInterval   = 250 * time.Millisecond
	maxLiveOutput    = 64 << 10 // bytes sent during one run
	maxLogMessage    = 8 << 10  // bytes in one log message
)

// withLogging declares that the server sends log messages.
func withLogging(c *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	c.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // see the top of the file
	return c
}

// live sends updates about a run to its client. Short runs send none.
type live struct {
	call     call
	began    time.Time
	limit    time.Duration
	progress bool // the client asked for it

	stop, stopped chan struct{}

	mu      sync.Mutex
	pending [2]strings.Builder // stdout and stderr, not yet sent
	taken   int                // bytes that went into pending
	cut     bool
}

// follow starts the updates about a run that the client wants. It returns nil if the client
// wants none, because live streams cost a run more than the rest of this frontend.
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
	go l.send(ctx, d)
	return l
}

type (
	probeKey    struct{}
	withoutLogs struct{}
)

// wantsLogs reports whether a log message would be sent to the client. The SDK knows the
// level that the session or the request asked for but does not expose it, so wantsLogs logs
// a message that answerProbes intercepts.
func wantsLogs(ctx context.Context, session *mcp.ServerSession) bool {
	if ctx.Value(withoutLogs{}) != nil {
		return false
	}
	wanted := false
	ctx = context.WithValue(ctx, probeKey{}, &wanted)
	//nolint:staticcheck // see the top of the file
	err := session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: ""})
	return err == nil && wanted
}

// answerProbes runs between the SDK and the connection. It drops the messages of wantsLogs
// and records that they came.
func answerProbes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if wanted, ok := ctx.Value(probeKey{}).(*bool); ok {
			*wanted = true
			return nil, nil
		}
		return next(ctx, method, r)
	}
}

// end stops the updates and waits for the last one, so that the answer comes after them.
func (l *live) end() {
	if l == nil {
		return
	}
	close(l.stop)
	<-l.stopped
}

func (l *live) send(ctx context.Context, d *frontend) {
	defer close(l.stopped)
	ticker := time.NewTicker(outputInterval)
	defer ticker.Stop()
	next := l.began.Add(progressInterval)
	for {
		select {
		case <-l.stop:
			return
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			var err error
			for i, name := range []string{"stdout", "stderr"} {
				if text := l.take(i); text != "" && err == nil {
					//nolint:staticcheck // see the top of the file
					err = l.call.request.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: name, Data: text})
				}
			}
			if err == nil && l.progress && !now.Before(next) {
				next = next.Add(progressInterval)
				err = l.sendProgress(ctx, now)
			}
			if err != nil {
				// The client is gone or does not read. Its run goes on until the client is
				// known to be gone.
				d.server.Logger.Debug("cannot send updates about a run", "error", err)
				return
			}
		}
	}
}

func (l *live) sendProgress(ctx context.Context, now time.Time) error {
	since := now.Sub(l.began)
	return l.call.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: l.call.request.Params.GetProgressToken(),
		Progress:      since.Seconds(), Total: l.limit.Seconds(),
		Message: fmt.Sprintf("running for %v of at most %v", since.Round(time.Second), l.limit),
	})
}

// take removes and returns the pending output of a stream.
func (l *live) take(i int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.ToValidUTF8(l.pending[i].String(), "\uFFFD")
	l.pending[i].Reset()
	return text
}

// stream takes what the guest writes to stdout or stderr.
type stream struct {
	live  *live
	index int // in live.pending
}

var _ io.Writer = stream{}

// Write never blocks and never fails: a slow client must not slow the guest down.
func (s stream) Write(p []byte) (int, error) {
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &l.pending[s.index]
	room := min(len(p), maxLogMessage-w.Len(), maxLiveOutput-l.taken)
	if room > 0 {
		w.Write(p[:room])
		l.taken += room
	}
	if room < len(p) && !l.cut {
		l.cut = true
		w.WriteString("\n… more output is not shown here; the answer has it\n")
	}
	return len(p), nil
}
