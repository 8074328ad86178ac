package httpapi

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

// Started is the first event of a stream: the request has its turn.
type Started struct {
	RunID string `json:"run_id"`
}

// Progress is sent every second.
type Progress struct {
	Elapsed plainjson.Milliseconds `json:"elapsed_ms"`
}

// The names of events.
const (
	eventStarted  = "started"
	eventStdout   = "stdout"
	eventStderr   = "stderr"
	eventProgress = "progress"
	eventResult   = "result"
	eventError    = "error"
)

const tick = time.Second

var errNotRead = errors.New("the client does not read the events of its run")

// stream answers with events while the guest runs. It sends nothing before the request has
// its turn, so that a refusal can still set the status.
func (a *api) stream(w http.ResponseWriter, r *http.Request, req run.Request, done func(), do func(context.Context, run.Request) (service.Answer, error)) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	s := &stream{w: a.pace(w, -1), timeout: a.WriteTimeout, giveUp: cancel}
	out, errs := &text{stream: s, event: eventStdout}, &text{stream: s, event: eventStderr}
	req.Streams = run.Streams{Out: out, Err: errs}

	id := rand.Text()
	w.Header().Set(runIDHeader, id)
	defer s.end() // also after a panic: nothing may write after the handler returns
	answer, err := do(service.Follow(ctx, id, func() { s.begin(id) }), req)
	defer answer.Sent()
	done()
	s.end()
	if !s.begun {
		if err == nil {
			err = run.Errorf(run.Internal, "a run ended and was never started")
		}
		return err
	}
	out.flush()
	errs.flush()
	if err == nil {
		s.sendResult(answer.Result)
	} else {
		problem := problemOf(err)
		if problem.Class == run.Internal && ctx.Err() == nil {
			a.Logger.Error("run failed", "run", id, "error", err)
		}
		s.send(eventError, problem)
	}
	if err := s.failure(); err != nil {
		a.Logger.Debug("cannot send a stream", "run", id, "error", err)
	}
	return nil
}

// stream sends events, one at a time and without a buffer: a slow client slows its guest
// down, and one that stops reading ends it.
type stream struct {
	w       *paced
	timeout time.Duration
	giveUp  context.CancelCauseFunc

	mu     sync.Mutex
	broken error

	begun bool
	over  chan struct{}
	ticks sync.WaitGroup
}

func (s *stream) begin(id string) {
	s.begun = true
	s.w.Header().Set("Content-Type", eventsType)
	s.w.Header().Set("X-Accel-Buffering", "no") // for proxies that would collect events
	s.w.WriteHeader(http.StatusOK)
	s.send(eventStarted, Started{id})
	s.over = make(chan struct{})
	began := time.Now()
	over := s.over
	s.ticks.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case now := <-ticker.C:
				s.send(eventProgress, Progress{plainjson.Milliseconds(now.Sub(began).Round(time.Millisecond))})
			}
		}
	})
}

// end waits until no other goroutine sends.
func (s *stream) end() {
	if s.over != nil {
		close(s.over)
		s.ticks.Wait()
		s.over = nil
	}
}

// send writes one event. The run ends if the client does not read it in time.
func (s *stream) send(event string, data any) {
	encoded, err := encode(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return
	}
	if err == nil {
		// JSON has no newline inside, and ends in one here.
		_, err = s.w.Write(slices.Concat([]byte("event: "+event+"\ndata: "), encoded, []byte("\n")))
	}
	s.sent(err)
}

// sendResult is send for the last event, which can be large: it encodes while it writes,
// and one deadline covers all of it.
func (s *stream) sendResult(result run.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return
	}
	s.w.end = time.Now().Add(patience(s.timeout, jsonform.Size(result)))
	out := bufio.NewWriterSize(s.w, pieceSize)
	_, err := out.WriteString("event: " + eventResult + "\ndata: ")
	err = errors.Join(err, jsonform.Encode(out, result), out.WriteByte('\n'), out.Flush())
	s.sent(err)
}

// sent ends the run if the client did not read an event.
func (s *stream) sent(err error) {
	if err == nil {
		err = s.w.FlushError()
	}
	if err != nil {
		s.broken = errors.Join(errNotRead, err)
		s.giveUp(errNotRead)
	}
}

func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// text sends the guest's output in pieces of whole characters. The beginning of a character
// at the end of a piece waits for the rest.
type text struct {
	*stream
	event string
	rest  []byte
}

func (t *text) Write(p []byte) (int, error) {
	data := slices.Concat(t.rest, p)
	whole := len(data) - partial(data)
	t.rest = data[whole:]
	if whole > 0 {
		t.send(t.event, string(data[:whole]))
	}
	return len(p), t.failure()
}

// flush sends the beginning of a character whose rest never came.
func (t *text) flush() {
	if len(t.rest) > 0 {
		t.send(t.event, string(t.rest))
	}
}

// partial counts the bytes at the end that are the beginning of a character.
func partial(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if last := data[len(data)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
