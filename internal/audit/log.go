package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Options configure a log. Zero means the default.
type Options struct {
	Path string
	// MaxSize is the size at which a file is rotated (64MiB).
	MaxSize policy.Bytes
	// Keep is the number of rotated files that are kept (10).
	Keep int
	// Sync is the minimum time between two fsyncs (20ms). A record is on disk after that
	// time plus an fsync.
	Sync time.Duration
	// Buffer bounds what waits for the disk (4MiB). When it is full, Record waits, or
	// fails if the disk fails.
	Buffer policy.Bytes
	// Key turns the hashes into HMACs: only its holders can write a new chain.
	Key []byte
	// FailClosed makes Admit refuse runs while the log cannot be written.
	FailClosed bool
	// OnError receives errors. It is called on many goroutines, by the code that met the
	// error, and must not wait for the log.
	OnError func(error)

	// wrap and retry are for tests.
	wrap  func(*os.File) file
	retry time.Duration
}

const (
	defaultMaxSize = 64 * policy.MiB
	defaultKeep    = 10
	defaultSync    = 20 * time.Millisecond
	defaultBuffer  = 4 * policy.MiB
	defaultRetry   = 250 * time.Millisecond

	// minSize has room for the begin note and any record.
	minSize = 2 * maxLine
	// patience is how long Record waits for room while the disk is slow.
	patience = 5 * time.Second
	// lockTries and lockPause cover Verify, which holds the lock for a moment to check
	// whether there is a writer.
	lockTries = 10
	lockPause = 20 * time.Millisecond
)

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Path == "":
		return o, run.Errorf(run.Invalid, "audit: the path is empty")
	case o.MaxSize < 0, o.MaxSize > 0 && o.MaxSize < minSize:
		return o, run.Errorf(run.Invalid, "audit: a file size of %v is too small: the minimum is %v", o.MaxSize, policy.Bytes(minSize))
	case o.Keep < 0, o.Sync < 0, o.Buffer < 0:
		return o, run.Errorf(run.Invalid, "audit: keep, sync and buffer must not be negative")
	case len(o.Key) > 0 && len(o.Key) < minKey:
		return o, run.Errorf(run.Invalid, "audit: the key has %d bytes: the minimum is %d", len(o.Key), minKey)
	}
	o.MaxSize = cmp.Or(o.MaxSize, defaultMaxSize)
	o.Keep = cmp.Or(o.Keep, defaultKeep)
	o.Sync = cmp.Or(o.Sync, defaultSync)
	o.Buffer = cmp.Or(o.Buffer, defaultBuffer)
	o.retry = cmp.Or(o.retry, defaultRetry)
	if o.OnError == nil {
		o.OnError = func(error) {} // Health still counts them
	}
	if o.wrap == nil {
		o.wrap = func(f *os.File) file { return f }
	}
	return o, nil
}

// Log is an open log. It is safe for concurrent use.
type Log struct {
	opts Options
	lock *os.File

	mu       sync.Mutex
	pending  [][]byte // bodies, including those that are being written
	size     int      // of pending
	accepted uint64   // bodies so far, and how many of them are on disk
	durable  uint64
	failing  error // why the log cannot be written now
	failures uint64
	dropped  uint64
	unnoted  uint64 // dropped, and not noted in the log yet
	head     Head
	closing  bool
	changed  chan struct{} // closed at each change of the above
	refusals refusals

	wake    chan struct{} // there is something to write
	closed  chan struct{}
	stopped chan struct{}
	result  error // of the writer, once stopped is closed
}

// Open continues a log, or creates it. It repairs what a crash has left, and fails if
// there is another writer.
func Open(o Options) (*Log, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	lock, err := takeLock(o.Path)
	if err != nil {
		return nil, err
	}
	l := &Log{
		opts: o, lock: lock,
		changed: make(chan struct{}), wake: make(chan struct{}, 1),
		closed: make(chan struct{}), stopped: make(chan struct{}),
	}
	c, err := l.openChain()
	if err != nil {
		lock.Close()
		return nil, err
	}
	go l.write(c)
	return l, nil
}

func takeLock(path string) (*os.File, error) {
	for try := 1; ; try++ {
		lock, held, err := tryLock(path + lockSuffix)
		switch {
		case err != nil:
			return nil, fmt.Errorf("audit: %w", err)
		case !held:
			return lock, nil
		case try == lockTries:
			return nil, run.Errorf(run.Busy, "audit: another process writes %s, and a log has one writer: use another file", path)
		}
		time.Sleep(lockPause)
	}
}

func (l *Log) openChain() (*chain, error) {
	o := l.opts
	c := &chain{
		path: o.Path, maxSize: int64(o.MaxSize), keep: o.Keep,
		seal: newSealer(o.Key), report: l.report, wrap: o.wrap,
	}
	notes, err := c.resume()
	if err == nil {
		c.head, err = openHead(o.Path)
	}
	if err == nil && c.size == 0 {
		err = c.begin()
	}
	if err == nil && len(notes) > 0 {
		err = c.note(notes...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("audit: %w", err), c.abandon())
	}
	l.head = c.tail
	return c, nil
}

// Record queues r and returns. If there is no room because the disk fails or is slow for
// long, r is dropped: Record returns an error, reports it to OnError, counts it, and the
// log notes it once it can be written again.
func (l *Log) Record(r Record) error {
	body, err := encode(r)
	if err != nil {
		return err
	}
	var late <-chan time.Time
	for {
		changed, err := l.offer(body)
		if changed == nil {
			return err
		}
		if late == nil {
			timer := time.NewTimer(patience)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-changed:
		case <-late:
			return l.drop(run.Errorf(run.Busy, "audit: not recorded: %v wait for the disk, and nothing was written for %v", l.opts.Buffer, patience))
		}
	}
}

// offer queues a body, or returns a channel to wait for.
func (l *Log) offer(body []byte) (<-chan struct{}, error) {
	l.mu.Lock()
	switch {
	case l.closing:
		l.mu.Unlock()
		return nil, l.drop(run.Errorf(run.Closed, "audit: not recorded: the log is closed"))
	case len(l.pending) == 0 || l.size+len(body) <= int(l.opts.Buffer):
		l.pending = append(l.pending, body)
		l.size += len(body)
		l.accepted++
		l.mu.Unlock()
		select {
		case l.wake <- struct{}{}:
		default:
		}
		return nil, nil
	case l.failing != nil:
		err := l.failing
		l.mu.Unlock()
		return nil, l.drop(fmt.Errorf("not recorded: %w", err))
	}
	defer l.mu.Unlock()
	return l.changed, nil
}

func (l *Log) drop(err error) error {
	l.mu.Lock()
	l.dropped++
	l.unnoted++
	l.mu.Unlock()
	l.opts.OnError(err)
	return err
}

// report counts an error and passes it to OnError.
func (l *Log) report(err error) {
	l.mu.Lock()
	l.failures++
	l.mu.Unlock()
	l.opts.OnError(err)
}

// Admit reports whether a run may begin. With FailClosed it may not while the log cannot
// be written, since there would be no trace of it.
func (l *Log) Admit() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.opts.FailClosed:
		return nil
	case l.closing:
		return run.Errorf(run.Closed, "the audit log is closed, and the service runs nothing that it cannot record")
	case l.failing != nil:
		return run.Errorf(run.Unsupported, "the service runs nothing that it cannot record: %w", l.failing)
	}
	return nil
}

// Flush waits until everything recorded before it is on disk, and fails at once if that
// is not possible.
func (l *Log) Flush(ctx context.Context) error {
	l.mu.Lock()
	target := l.accepted
	for l.durable < target {
		failing, changed := l.failing, l.changed
		l.mu.Unlock()
		if failing != nil {
			return failing
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.stopped:
			return l.result
		}
		l.mu.Lock()
	}
	l.mu.Unlock()
	return nil
}

// Close writes what is queued and releases the lock. What cannot be written by then is
// lost, and the error says how much.
func (l *Log) Close() error {
	l.refusals.close(l.recordMore)
	l.mu.Lock()
	first := !l.closing
	l.closing = true
	l.mu.Unlock()
	if first {
		close(l.closed)
	}
	<-l.stopped
	return l.result
}

// Health is how a log is doing.
type Health struct {
	Head     Head   // the last line on disk
	Waiting  int    // records that are not on disk yet
	Failures uint64 // errors of the disk
	Dropped  uint64 // runs that are not in the log
	Err      error  // why it cannot be written now
}

// Health says how the log is doing.
func (l *Log) Health() Health {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Health{Head: l.head, Waiting: len(l.pending), Failures: l.failures, Dropped: l.dropped, Err: l.failing}
}
