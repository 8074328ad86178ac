package jsonlines

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	// maxWaiting bounds the lines that were read and wait for their turn.
	// maxWaitingBytes bounds their size, together with that of running requests. Further
	// lines stay in the pipe.
	maxWaiting      = 1024
	maxWaitingBytes = 2 * run.MaxPayload
	// maxUnsent bounds the answers that the client has not read yet. Above it, finished
	// requests keep their turns, so that no new one begins.
	maxUnsent = 64 << 20
	// soon is how long the goroutine that answers a single line delays the next read. Hook
	// calls and most runs take less, so that no other goroutine has to wake up.
	soon = time.Millisecond
	// A line that arrives within waited was in the pipe already, so the client sends several
	// at once. The next crowd lines are then treated as not single.
	waited = 10 * time.Microsecond
	crowd  = 64
	// After an answer, the reader polls for the next line that long before it sleeps: to wake a
	// sleeping thread takes a tenth of a hook's call from Python.
	patience = 200 * time.Microsecond
)

// Failure is the answer to a line that gives no Result.
type Failure struct {
	ID     json.RawMessage `json:"id"`
	Status run.Status      `json:"status"`
	Error  string          `json:"error"`
	Class  run.Class       `json:"class"`
	// Field names the wrong field of the request, if it is one.
	Field string `json:"field,omitempty"`
	// Findings are those of a hook that the language rules refuse.
	Findings []run.Finding `json:"findings,omitempty"`
}

// Runner is what the frontend needs of a *cordon.Runner.
type Runner interface {
	Run(ctx context.Context, req run.Request) (run.Result, error)
	Check(ctx context.Context, c run.Check) ([]run.Finding, error)
}

// Options are the parts of the frontend.
type Options struct {
	Runner      Runner
	OpenHook    func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error)
	OpenSession func(ctx context.Context, o run.SessionOptions) (Session, error)
	Fixed       Fixed
	Concurrent  int // lines that are answered at the same time
}

// Serve answers each line of in with a line of out, in the order in which they are done.
// It returns when each line has its answer, or ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{
		Options: o, out: out, arrived: arrival(in), hooks: newHooks(), sessions: newSessions(),
		queue: make(chan *job, maxWaiting), slots: make(chan struct{}, o.Concurrent), known: map[string]*job{}, pending: map[string][]*job{},
	}
	s.room = sync.NewCond(&s.mu)
	err := s.serve(ctx, in)
	return errors.Join(err, s.hooks.Close(), s.sessions.Close())
}

// server answers lines.
type server struct {
	Options
	hooks    *openhooks.Table
	sessions *opened.Table[Session]

	writing sync.Mutex
	out     io.Writer

	arrived func() bool   // whether in has data or has ended; nil if that cannot be known
	crowded int           // how many more lines are not treated as single; only the reader uses it
	queue   chan *job     // lines that wait for their turn
	waiting atomic.Int64  // how many wait
	slots   chan struct{} // lines that have their turn
	under   sync.WaitGroup

	mu    sync.Mutex
	room  *sync.Cond // for more bytes, or for more answers
	bytes int        // of all lines that are not answered yet
	// unsent is the size of the answers that wait to be written.
	unsent  int64
	known   map[string]*job
	pending map[string][]*job // by session: what is not answered yet, in the order of the lines
	over    bool              // no further job may start
}

// job is a line that needs an answer.
type job struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	order  order
	size   int
	after  chan struct{} // closed when the order before is done, in the same session; nil if there is none
	done   chan struct{} // closed when this one is; nil for orders that belong to no session
}

// serve returns when every line has its answer, or when ctx ends. It does not wait for the
// reader, which may be blocked in a Read.
func (s *server) serve(ctx context.Context, in io.Reader) error {
	read := make(chan error, 1)
	go s.read(ctx, bufio.NewReaderSize(in, 64<<10), read)
	defer s.under.Wait()
	for {
		select {
		case j, more := <-s.queue:
			if !more {
				s.under.Wait()
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return <-read
			}
			s.slots <- struct{}{}
			s.waiting.Add(-1)
			s.start(j)
		case <-ctx.Done():
			s.turnAway()
			return ctx.Err()
		}
	}
}

// read reads lines to the end of in. The goroutine that reads a line also answers it, if it
// gets its turn at once, because waking another goroutine takes longer than many runs.
// Another goroutine continues reading if several lines arrive at once, or if the answer
// takes long.
func (s *server) read(ctx context.Context, in *bufio.Reader, ended chan<- error) {
	for answered := false; ; {
		began := time.Now()
		if answered && in.Buffered() == 0 {
			s.awaitLine(began.Add(patience))
		}
		l, more, err := nextLine(in)
		if s.crowded--; time.Since(began) < waited {
			s.crowded = crowd
		}
		if more {
			j := s.take(ctx, l)
			if answered = j != nil; answered && s.finishBeside(j, err == nil, func() { s.read(ctx, in, ended) }) {
				return
			}
		}
		if err != nil {
			ended <- endOfInput(err)
			close(s.queue)
			return
		}
	}
}

// awaitLine polls for the next line, unless guests need the cores.
func (s *server) awaitLine(until time.Time) {
	if s.arrived == nil {
		return
	}
	for len(s.slots) == 0 && !s.arrived() && time.Now().Before(until) {
		tuning.Yield()
	}
}

// finishBeside answers a job, and reports whether another goroutine has taken over reading.
func (s *server) finishBeside(j *job, more bool, readOn func()) bool {
	if !more {
		s.finish(j)
		return false
	}
	if s.crowded > 0 {
		go readOn()
		s.finish(j)
		return true
	}
	late := time.AfterFunc(soon, readOn)
	s.finish(j)
	return !late.Stop()
}

// take queues a line, or returns a job that has its turn already. A cancel and an interrupt
// need no turn.
func (s *server) take(ctx context.Context, l line) *job {
	o, err := l.order()
	if err != nil {
		s.answer(order{}, failed(l.id(), err))
		return nil
	}
	if o.Cancel != "" {
		s.cancel(o.Cancel)
		return nil
	}
	if o.Interrupt != "" {
		s.interrupt(o.Interrupt)
		return nil
	}
	s.endSteps(o.Close)
	j := s.enter(ctx, o, len(l.text))
	// Take a free slot directly if no line waits.
	if s.waiting.Load() == 0 && ctx.Err() == nil {
		select {
		case s.slots <- struct{}{}:
			if s.begin() {
				return j
			}
			return nil
		default:
		}
	}
	s.waiting.Add(1)
	select {
	case s.queue <- j:
	case <-ctx.Done():
	}
	return nil
}

// start answers a job whose turn has come.
func (s *server) start(j *job) {
	if s.begin() {
		go s.finish(j)
	}
}

// begin counts a job. It returns false after the end, when serve no longer waits for jobs.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.under.Add(1)
	}
	return !s.over
}

// finish answers a job.
func (s *server) finish(j *job) {
	defer s.under.Done()
	answer := s.do(j)
	s.leave(j)
	release := s.hold(answer)
	<-s.slots
	s.answer(j.order, answer)
	release()
}

// hold waits until there is room for an answer.
func (s *server) hold(answer any) (release func()) {
	switch a := answer.(type) {
	case run.Result:
		return s.reserve(jsonform.Size(a))
	case fileDone:
		return s.reserve(a.size())
	case fileContent:
		return a.release
	case variables:
		return s.reserve(int64(len(a.Variables)) * variableSize)
	}
	return func() {} // a few words
}

// reserve waits until an answer fits into maxUnsent. An answer that is larger than that waits
// until it is the only one.
func (s *server) reserve(size int64) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.unsent > 0 && s.unsent+size > maxUnsent {
		s.room.Wait()
	}
	s.unsent += size
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unsent -= size
		s.room.Broadcast()
	}
}

// turnAway answers the lines that still wait at the end.
func (s *server) turnAway() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	for {
		select {
		case j, more := <-s.queue:
			if !more {
				return
			}
			s.answer(j.order, s.do(j))
		default:
			return
		}
	}
}

// enter waits until a line fits into maxWaitingBytes, and registers it for cancel.
func (s *server) enter(ctx context.Context, o order, size int) *job {
	j := &job{order: o, size: size}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes > 0 && s.bytes+size > maxWaitingBytes {
		s.room.Wait()
	}
	s.bytes += size
	if o.ID != "" {
		s.known[o.ID] = j
	}
	s.follow(j)
	return j
}

func (s *server) leave(j *job) {
	j.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doneWith(j)
	s.bytes -= j.size
	s.room.Broadcast()
	if s.known[j.order.ID] == j {
		delete(s.known, j.order.ID)
	}
}

// cancel cancels the line with this id, which still gets its answer. An unknown id was
// answered before. A close is not canceled: what it closes would stay open, unused.
func (s *server) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.known[id]; j != nil && j.order.Close == "" {
		j.cancel(nil)
	}
}

// small is the largest answer that is encoded in memory and written with one call.
const small = 64 << 10

func (s *server) answer(o order, v any) {
	if result, ok := v.(run.Result); ok && jsonform.Size(result) > small {
		encode := jsonform.Encode
		if o.Brief {
			encode = jsonform.EncodeBrief
		}
		s.writeLarge(func(out io.Writer) error { return encode(out, result) })
		return
	}
	if file, ok := v.(fileContent); ok {
		s.writeLarge(file.encode)
		return
	}
	text, err := marshalLine(v, o.Brief)
	if err != nil {
		text, _ = marshalLine(failed(o.id(), err), false) // texts alone
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.out.Write(text) // a broken pipe ends ctx
}

// writeLarge encodes an answer while writing it, because a copy would need as much memory.
func (s *server) writeLarge(encode func(io.Writer) error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	out := bufio.NewWriterSize(s.out, small)
	if encode(out) == nil {
		_ = out.Flush() // a broken pipe ends ctx
	}
}

// marshalLine calls a Result's own method: json.Marshal would parse its output again.
func marshalLine(v any, brief bool) ([]byte, error) {
	var b bytes.Buffer
	if res, ok := v.(run.Result); ok && brief {
		err := jsonform.EncodeBrief(&b, res)
		return b.Bytes(), err
	} else if ok {
		text, err := res.MarshalJSON()
		return append(text, '\n'), err
	}
	text, err := jsonform.Document(v)
	return append(text, '\n'), err
}

// failed is the answer to a line that gave an error instead of a Result.
func failed(id json.RawMessage, err error) Failure {
	f := Failure{ID: id, Status: run.StatusError, Error: err.Error(), Class: run.ClassOf(err), Field: jsonform.FieldOf(err)}
	var refused *run.Refusal
	if errors.As(err, &refused) {
		f.Findings = refused.Findings
	}
	return f
}
