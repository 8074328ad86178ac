package zygote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/notify"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
)

// forkTimeout bounds the wait for one worker; a fork takes about 1 ms.
const forkTimeout = 30 * time.Second

// autopsyTimeout bounds the wait for the end of a worker that hangs before it is ready.
// Such a worker cannot be killed: its pid is not known. The end of a dead worker is
// reported as soon as the fork server gets CPU time.
const autopsyTimeout = time.Second

// errDied says that a worker is dead, not just late.
var errDied = errors.New("the worker died while it set up its walls")

// Worker is one confined CPython that waits for its only guest.
type Worker struct {
	// PID is the worker's in our namespace.
	PID int

	zygote  *Zygote
	ordered bool // the zygote reports its end, unless it dies itself
	warm    bool // it has run a sample guest, see warm_up in worker.py
	// Our ends. They do not block, and Go's poller does not use them.
	channel, stdin, stdout, stderr descriptor
	pidfd, status                  descriptor
	cpu                            time.Duration // used before the guest or the call began
	peak                           policy.Bytes  // of its memory, at the last reading
	reader                         *bufio.Reader // of the channel
	question, answer               []byte        // buffers, kept for the next call

	exited   chan struct{} // closed when the zygote has reaped it
	onEnd    func()
	exit     Exit
	orphaned bool // it died with its zygote

	limits  atomic.Pointer[policy.Limits] // of its guest; zero before it has one
	network atomic.Pointer[Network]       // of its guest, or nil
	clones  reservations
	held    holding

	denials notify.Denials
	kill    killOnce
	killed  bool // guarded by pidfd
}

// Fork returns a worker that has its walls, is warmed up if warm is set, and is checked.
// Its scratch space has a fixed size; the other limits come with the guest. The worker
// joins a cgroup through the descriptor join, unless that is negative. When the worker has
// been reaped, or was never started, onEnd is called without any lock held. A worker that
// is needed at once is better not warmed up first.
func (z *Zygote) Fork(ctx context.Context, scratch policy.Bytes, warm bool, join int, onEnd func()) (*Worker, error) {
	w := z.newWorker(onEnd)
	w.warm = warm
	if err := w.requestFork(scratch, join); err != nil {
		if w.ordered {
			// The zygote is dead, and we noticed first. Its last message may say more;
			// reap reads it before it closes done.
			z.process.Kill()
			<-z.done
			err = fmt.Errorf("%w (%w)", z.err, err)
		} else {
			w.end(Exit{})
		}
		w.closeStreams()
		return nil, fmt.Errorf("no worker can be forked: %w", err)
	}
	if err := w.awaitReady(ctx, 0); err != nil {
		w.Close()
		return nil, w.autopsy(ctx, err)
	}
	return w, nil
}

func (z *Zygote) newWorker(onEnd func()) *Worker {
	w := &Worker{zygote: z, exited: make(chan struct{}), onEnd: onEnd}
	w.limits.Store(&policy.Limits{})
	return w
}

// requestFork asks the zygote to fork the worker, under a number by which it will report
// the worker's end.
func (w *Worker) requestFork(scratch policy.Bytes, join int) error {
	theirs, err := w.openStreams()
	// While we hold the worker's end of its channel, we do not notice its death.
	defer func() {
		for _, fd := range theirs {
			unix.Close(fd)
		}
	}()
	if err != nil {
		return err
	}
	number, err := w.zygote.register(w)
	if err != nil {
		return err
	}
	wanted, err := wire.AppendDict(nil,
		wire.Field{Name: "number", Value: number},
		wire.Field{Name: "scratch", Value: int64(scratch)},
		wire.Field{Name: "warm", Value: w.warm})
	if err != nil {
		w.zygote.forget(number)
		return err
	}
	w.ordered = true
	sent := theirs
	if join >= 0 {
		sent = append(slices.Clip(theirs), join)
	}
	err = unix.EBADF // if the descriptor is closed
	w.zygote.control.use(func(fd int) { err = sendMessage(fd, wanted, sent...) })
	return err
}

func (z *Zygote) register(w *Worker) (number int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return 0, z.err
	}
	number = z.forks
	z.workers[number] = w
	z.forks++
	return number, nil
}

// openStreams makes the worker's four descriptors and our ends.
func (w *Worker) openStreams() (theirs []int, err error) {
	channel, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("channel: %w", err)
	}
	theirs = append(theirs, channel[1])
	if err := nonblocking(channel[0]); err != nil {
		unix.Close(channel[0])
		return theirs, err
	}
	w.channel.set(channel[0])
	if err := unix.SetsockoptInt(channel[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return theirs, err
	}
	for _, stream := range []struct {
		ours  *descriptor
		name  string
		write int // which end of the pipe is the guest's
	}{{&w.stdin, "stdin", 0}, {&w.stdout, "stdout", 1}, {&w.stderr, "stderr", 1}} {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return theirs, fmt.Errorf("%s: %w", stream.name, err)
		}
		theirs = append(theirs, pipe[stream.write])
		stream.ours.set(pipe[1-stream.write])
		if err := nonblocking(pipe[1-stream.write]); err != nil {
			return theirs, fmt.Errorf("%s: %w", stream.name, err)
		}
	}
	return theirs, nil
}

// nonblocking changes our end only; the guest's end must block. The descriptor is new, so
// it has no other flags to preserve.
func nonblocking(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_NONBLOCK)
	return err
}

// awaitReady waits for the worker's report that its walls stand, gets its pid from the
// kernel, and verifies from outside what can be verified.
func (w *Worker) awaitReady(ctx context.Context, patience time.Duration) error {
	// Shutting down our end of the channel wakes the wait.
	stop := context.AfterFunc(ctx, func() {
		w.channel.use(func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) }) // ENOTCONN: the worker was first
	})
	defer stop()
	m, err := awaitMessage(w.channel.number(), time.Now().Add(forkTimeout), patience)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		return errDied
	case err != nil:
		return fmt.Errorf("the worker is not ready: %w", err)
	}
	w.PID = m.pid
	kind, report, err := wire.ReadFrame(bytes.NewReader(m.data), nil, len(m.data))
	if err != nil || kind != wire.KindReady {
		return fmt.Errorf("the worker's report is malformed (%w)", err)
	}
	if len(report) > 0 {
		return setupFailure(report)
	}
	fd, err := unix.PidfdOpen(w.PID, 0)
	if err != nil {
		return fmt.Errorf("the worker is gone: %w", err)
	}
	w.pidfd.set(fd)
	if err := w.verify(); err != nil {
		return err
	}
	if w.cpu, err = cpuTime(w.PID); err != nil {
		return fmt.Errorf("CPU clock: %w", err)
	}
	return w.zygote.seal(w)
}

// autopsy waits until a worker that never became ready has been reaped. Then it is known
// whether the fork server still lives and could fork another.
func (w *Worker) autopsy(ctx context.Context, err error) error {
	patience := autopsyTimeout
	if errors.Is(err, errDied) {
		patience = forkTimeout
	}
	select {
	case <-w.exited:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
	}
	if !w.zygote.Alive() {
		return fmt.Errorf("%w: %w", err, w.zygote.err)
	}
	return err
}

// seal applies the rules for guests to the worker. From here on its denied system calls
// are refused.
func (z *Zygote) seal(w *Worker) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return fmt.Errorf("the worker died with its fork server: %w", z.err)
	}
	z.sealed[w.PID] = w
	return nil
}

// Reaped reports whether the worker is dead and its parent has reaped it.
func (w *Worker) Reaped() bool { return closed(w.exited) && !w.orphaned }

// end records how the worker ended. It is called once.
func (w *Worker) end(exit Exit) {
	w.exit = exit
	w.held.release(w.zygote.config.CPUs)
	close(w.exited)
	if w.onEnd != nil {
		w.onEnd()
	}
}

// Kill ends the worker at once. The first reason given is the one that counts.
func (w *Worker) Kill(why Reason) {
	w.kill.because(why)
	w.pidfd.use(func(fd int) { // before the worker is ready there is no pidfd: it ends when its channel closes
		if !w.killed {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // ESRCH: dead already
			w.killed = true
		}
	})
}

// Close kills the worker and closes our descriptors. It does not wait until the worker is
// reaped.
func (w *Worker) Close() {
	w.Kill(KilledDone)
	w.closeStreams()
	w.pidfd.close()
	w.status.close()
}

func (w *Worker) closeStreams() {
	for _, d := range []*descriptor{&w.channel, &w.stdin, &w.stdout, &w.stderr} {
		d.close()
	}
}

// killOnce remembers the first reason.
type killOnce struct {
	mu  sync.Mutex
	why Reason
}

func (k *killOnce) because(why Reason) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.why == "" {
		k.why = why
	}
}

func (k *killOnce) reason() Reason {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.why
}

// setupFailure parses a worker's report that a wall could not be set up.
func setupFailure(report []byte) error {
	fields, err := wire.DecodeDict(report)
	if err != nil {
		return fmt.Errorf("the worker's report is malformed: %w", err)
	}
	step, err := fields.Get("step").Text()
	if err != nil {
		return fmt.Errorf("the worker's report is malformed: %w", err)
	}
	cause, err := fields.Get("error").Text()
	if err != nil {
		return fmt.Errorf("the worker's report is malformed: %w", err)
	}
	return &confine.SetupError{Step: "worker: " + step, Cause: cause}
}
