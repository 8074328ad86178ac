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
	"github.com/cordon-sandbox/cordon/internal/openhooks"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	// maxWaiting bounds the lines that were read and wait for their turn, and
	// maxWaitingBytes their length, together with what runs. The rest stays in
	// the pipe.
	maxWaiting      = 1024
	maxWaitingBytes = 2 * run.MaxPayload
	// maxUnsent bounds the answers that nobody has read yet. While there are more, what has
	// ended keeps its turn, and nothing new begins.
	maxUnsent = 64 << 20
	// soon is how long a line that came alone may keep the next one waiting: a call of a
	// hook and most runs take less, and then nobody is woken to read.
	soon = time.Millisecond
	// A line that is there within this time waited for us: there are several callers, and
	// for the next so many lines none is taken to be alone.
	waited = 10 * time.Microsecond
	crowd  = 64
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
	Runner     Runner
	OpenHook   func(ctx context.Context, h run.HookSpec) (openhooks.Hook, error)
	Fixed      Fixed
	Concurrent int // lines that are answered at the same time
}

// Serve answers each line of in with a line of out, in the order in which they are done.
// It returns when each line has its answer, or ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{
		Options: o, out: out, hooks: newHooks(),
		queue: make(chan *job, maxWaiting), slots: make(chan struct{}, o.Concurrent), known: map[string]*job{},
	}
	s.room = sync.NewCond(&s.mu)
	err := s.serve(ctx, in)
	return errors.Join(err, s.hooks.Close())
}

// server answers lines.
type server struct {
	Options
	hooks *openhooks.Table

	writing sync.Mutex
	out     io.Writer

	crowded int           // how many lines are taken to have company; the reader's own
	queue   chan *job     // what was read and waits for its turn
	waiting atomic.Int64  // how many do
	slots   chan struct{} // what has its turn
	under   sync.WaitGroup

	mu    sync.Mutex
	room  *sync.Cond // for more bytes, or for more answers
	bytes int        // of all lines that are not answered yet
	// unsent is the size of the answers that wait to be written.
	unsent int64
	known  map[string]*job
	over   bool // nothing is started any more
}

// job is a line that is to be answered.
type job struct {
	ctx    context.Context
	cancel context.CancelFunc
	order  order
	size   int
}

// serve answers all lines, and returns when each has its answer or ctx is over.
// Its reader may stay in a Read that does not return; nobody waits for it then.
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

// read reads lines to the end of in. What has its turn at once is answered by whoever
// has read it: to wake another goroutine for the answer would take longer than many an
// answer. Another one reads on if lines come faster than answers, or if the answer takes
// its time.
func (s *server) read(ctx context.Context, in *bufio.Reader, ended chan<- error) {
	for {
		began := time.Now()
		l, more, err := nextLine(in)
		if s.crowded--; time.Since(began) < waited {
			s.crowded = crowd
		}
		if more {
			if j := s.take(ctx, l); j != nil && s.finishBeside(j, err == nil, func() { s.read(ctx, in, ended) }) {
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

// finishBeside answers a job, and says whether another goroutine reads on by now.
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

// take puts a line into the queue, or gives it back as a job that has its turn. A cancel
// has no turn to wait for.
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
	j := s.enter(ctx, o, len(l.text))
	// Where nobody waits, there is no need for a queue.
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

// begin counts a job, unless it is all over: then nobody would wait for it.
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
	answer := s.do(j.ctx, j.order)
	s.leave(j)
	release := s.hold(answer)
	<-s.slots
	s.answer(j.order, answer)
	release()
}

// hold waits until there is room for an answer among those that nobody has read. One that
// is larger than all the room has it to itself.
func (s *server) hold(answer any) (release func()) {
	result, ok := answer.(run.Result)
	if !ok {
		return func() {} // a few words
	}
	size := jsonform.Size(result)
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

// turnAway answers what still waits when it is all over.
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
			s.answer(j.order, s.do(j.ctx, j.order))
		default:
			return
		}
	}
}

// enter waits until there is room for a line, and makes it known to cancel.
func (s *server) enter(ctx context.Context, o order, size int) *job {
	j := &job{order: o, size: size}
	j.ctx, j.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes > 0 && s.bytes+size > maxWaitingBytes {
		s.room.Wait()
	}
	s.bytes += size
	if o.ID != "" {
		s.known[o.ID] = j
	}
	return j
}

func (s *server) leave(j *job) {
	j.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= j.size
	s.room.Broadcast()
	if s.known[j.order.ID] == j {
		delete(s.known, j.order.ID)
	}
}

// cancel ends what has this id. That has an answer of its own, as any other; an id
// that is not known has had one.
func (s *server) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.known[id]; j != nil {
		j.cancel()
	}
}

// small is what is encoded at once, and written with one call; the rest is in pieces.
const small = 64 << 10

func (s *server) answer(o order, v any) {
	if result, ok := v.(run.Result); ok && jsonform.Size(result) > small {
		s.answerLarge(result, o.Brief)
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

// answerLarge encodes a Result while it is written: a copy of it would count, too.
func (s *server) answerLarge(result run.Result, brief bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	out := bufio.NewWriterSize(s.out, small)
	encode := jsonform.Encode
	if brief {
		encode = jsonform.EncodeBrief
	}
	if encode(out, result) == nil {
		_ = out.Flush() // a broken pipe ends ctx
	}
}

// marshalLine asks a Result directly: an encoder would read again what it has written.
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

// failed is the answer for what gave no Result.
func failed(id json.RawMessage, err error) Failure {
	f := Failure{ID: id, Status: run.StatusError, Error: err.Error(), Class: run.ClassOf(err), Field: jsonform.FieldOf(err)}
	var refused *run.Refusal
	if errors.As(err, &refused) {
		f.Findings = refused.Findings
	}
	return f
}
