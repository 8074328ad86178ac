package portable

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/launch"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/run"
)

// reason says why we killed a guest.
type reason string

// The reasons.
const (
	killedDone     reason = "done" // it had sent its report
	killedWall     reason = "wall_time"
	killedCPU      reason = "cpu_time"
	killedMemory   reason = "memory"
	killedProcs    reason = "processes"
	killedOutput   reason = "output"
	killedScratch  reason = "scratch"
	killedDisk     reason = "disk"
	killedFiles    reason = "files"
	killedCanceled reason = "canceled"
	killedSetup    reason = "set-up" // its interpreter was never ready
)

// guest is one running process, with all processes that it starts.
type guest struct {
	job     backend.Job
	process launch.Process
	began   time.Time
	killed  atomic.Pointer[reason]

	stdin                   *os.File // our ends
	stdout, stderr, channel *stream  // only a script has a channel
	messages                *bufio.Reader
	out, err                output.Sink

	ready     chan struct{} // closed when the guest begins; the interpreter of a script reports it
	waited    bool          // it was ready before its script arrived
	failure   string
	report    wire.Dict
	malformed error
	readers   sync.WaitGroup
	spoken    chan struct{} // closed when the readers have ended
	cpu       atomic.Int64  // CPU time, in nanoseconds, that does not count against the limit

	ended  chan struct{} // closed when the process has ended
	exit   launch.Exit
	failed error // of waiting for its end
}

// kill ends the guest. Only the first reason counts, except that what the guest has
// written is also checked after its report.
func (g *guest) kill(r reason) {
	if g.killed.CompareAndSwap(nil, &r) {
		g.process.Kill()
		return
	}
	if verdict.OutlastsReport(string(r)) {
		if first := g.killed.Load(); *first == killedDone {
			g.killed.CompareAndSwap(first, &r)
		}
	}
}

func (g *guest) reason() reason {
	if r := g.killed.Load(); r != nil {
		return *r
	}
	return ""
}

// start starts the process of the order, with new streams.
func start(l launch.Launcher, order launch.Order, job backend.Job, withChannel bool) (g *guest, err error) {
	g = &guest{job: job, began: time.Now(), ready: make(chan struct{}), spoken: make(chan struct{}), ended: make(chan struct{})}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			g.close()
		}
	}()
	read := func(ours **stream, other **os.File) error {
		r, w, err := os.Pipe()
		if err != nil {
			return run.Errorf(run.Internal, "pipes: %w", err)
		}
		*ours, *other = &stream{file: r}, w
		theirs = append(theirs, w)
		return nil
	}
	err = errors.Join(read(&g.stdout, &order.Stdout), read(&g.stderr, &order.Stderr))
	if withChannel {
		err = errors.Join(err, read(&g.channel, &order.Channel))
	}
	if err != nil {
		return g, err
	}
	if order.Stdin, g.stdin, err = os.Pipe(); err != nil {
		return g, run.Errorf(run.Internal, "pipes: %w", err)
	}
	theirs = append(theirs, order.Stdin)
	if withChannel {
		order.Args = append(order.Args, l.ChannelName(order.Channel))
	}
	if g.process, err = l.Start(order); err != nil {
		return g, err
	}
	if withChannel {
		g.messages = bufio.NewReader(g.channel)
	} else {
		close(g.ready)
	}
	go func() {
		defer close(g.ended)
		g.exit, g.failed = g.process.Wait()
	}()
	return g, nil
}

func (g *guest) close() {
	if g.stdin != nil {
		_ = g.stdin.Close() // feed may have closed it already
	}
	for _, s := range g.streams() {
		_ = s.file.Close()
	}
}

// streams are those that are open.
func (g *guest) streams() []*stream {
	return slices.DeleteFunc([]*stream{g.stdout, g.stderr, g.channel}, func(s *stream) bool { return s == nil })
}

// lingering is how long to wait for a process that outlived the guest and holds a stream.
const lingering = 500 * time.Millisecond

// wait makes the interpreter ready before its script arrives. If that fails, the guest has
// ended.
func (g *guest) wait(preparation []byte) error {
	late := time.AfterFunc(setupTime, func() { g.kill(killedSetup) })
	defer late.Stop()
	if _, err := g.stdin.Write(preparation); err != nil || !g.hello() {
		g.discard()
		return g.notReady()
	}
	g.waited = true
	return nil
}

// discard ends a guest that does not run.
func (g *guest) discard() {
	g.kill(killedDone)
	<-g.ended
	g.close()
}

// run watches the guest until its end, and returns the evidence. The guest reads the
// opening first, then its input.
func (g *guest) run(ctx context.Context, opening [][]byte, w watch) (evidence, error) {
	defer g.close()
	sent := g.feed(opening)
	g.collect()
	seen := g.watch(ctx, g.ended, w)
	wallTime := time.Since(g.began)
	g.finish()
	if g.failed != nil {
		return evidence{}, run.Errorf(run.Internal, "the end of the guest: %w", g.failed)
	}
	if g.reason() != killedCanceled {
		switch {
		case !g.isReady():
			return evidence{}, g.notReady()
		case g.waited && <-sent == 0:
			return evidence{}, backend.ErrNotStarted // it ended while it waited
		}
	}
	used := max(seen.CPUTime, g.exit.Usage.CPUTime) - time.Duration(g.cpu.Load())
	e := evidence{
		Command: g.job.Command.Args, Report: g.report, Malformed: g.malformed, Killed: g.reason(), Exit: g.exit, Limits: g.job.Limits, Restricted: g.job.Script.Restricted,
		Stdout: g.out.Capture, Stderr: g.err.Capture, WallTime: wallTime,
		CPUTime: max(0, used), Memory: max(seen.Memory, g.exit.Usage.Memory),
	}
	return e, nil
}

func (g *guest) isReady() bool {
	select {
	case <-g.ready:
		return true
	default:
		return false
	}
}

// notReady returns an error, not a Result, because no guest code has run.
func (g *guest) notReady() error {
	words := g.failure
	switch {
	case g.reason() == killedSetup:
		words = fmt.Sprintf("the interpreter was not ready within %v", setupTime)
	case words == "":
		words = fmt.Sprintf("the interpreter ended before it was ready (exit code %d %s): %.500s", g.exit.Code, g.exit.Signal, g.err.Capture.Data)
	}
	return run.Errorf(run.Unsupported, "the sandbox cannot be set up: %s", words)
}

// feed writes the guest's input, and sends how much of the opening was written. What the guest
// does not read is lost. A caller's reader that blocks forever keeps its goroutine.
func (g *guest) feed(opening [][]byte) <-chan int64 {
	stdin, sent := g.stdin, make(chan int64, 1)
	go func() {
		defer stdin.Close()
		buffers := net.Buffers(opening)
		n, err := buffers.WriteTo(stdin)
		sent <- n
		if err != nil {
			return
		}
		if in := g.job.Streams.In; in != nil {
			_, _ = io.Copy(stdin, in)
			return
		}
		_, _ = io.WriteString(stdin, g.job.Stdin)
	}()
	return sent
}

// collect reads the guest's output until all writers have closed it.
func (g *guest) collect() {
	kill := func() { g.kill(killedOutput) }
	g.out, g.err = output.Sinks(g.job.Limits, g.job.OnOutputLimit, g.job.Streams, kill)
	g.readers.Go(func() { copyTo(&g.out, g.stdout) })
	g.readers.Go(func() { copyTo(&g.err, g.stderr) })
	if g.channel != nil {
		g.readers.Go(g.listen)
	}
	go func() {
		g.readers.Wait()
		close(g.spoken)
	}()
}

func copyTo(sink *output.Sink, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			sink.Take(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// finish waits for the readers. All that the guest wrote is in the pipes by now. It does
// not wait for other processes that hold the pipes open.
func (g *guest) finish() {
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-g.spoken:
	case <-timer.C:
		for _, s := range g.streams() {
			s.stopWaiting()
		}
		<-g.spoken
	}
}

// listen reads the messages of the interpreter, and then of the guest.
func (g *guest) listen() {
	if !g.waited && !g.hello() {
		return
	}
	kind, payload, err := wire.ReadFrame(g.messages, nil, wire.MaxReport(g.job.Limits))
	switch {
	case err == nil && kind == wire.KindDone:
		g.report, g.malformed = wire.DecodeDict(payload)
	case err == nil:
		g.malformed = fmt.Errorf("a frame of kind %q", kind)
	case ended(err):
		return // the end of its process says more
	default:
		g.malformed = err
	}
	g.kill(killedDone)
	// It may continue to write, and would block.
	_, _ = io.Copy(io.Discard, g.messages)
}

// ended reports whether an error means that the channel has ended, not that its bytes are
// wrong.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) }

// hello reads the first message: the interpreter is ready, or what failed.
func (g *guest) hello() bool {
	kind, payload, err := wire.ReadFrame(g.messages, nil, run.MaxPayload)
	if err != nil || kind != wire.KindReady {
		return false
	}
	if len(payload) > 0 {
		g.failure = failureOf(payload)
		return false
	}
	g.cpu.Store(int64(g.process.Usage().CPUTime)) // the guest did not use it
	close(g.ready)
	return true
}

func failureOf(payload []byte) string {
	words, err := wire.DecodeDict(payload)
	if err != nil {
		return err.Error()
	}
	step, _ := words.Get("step").Text()
	text, _ := words.Get("error").Text()
	return fmt.Sprintf("%s: %s", step, text)
}
