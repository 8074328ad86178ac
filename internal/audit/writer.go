package audit

import (
	"errors"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// write runs on the only goroutine that uses the chain. Records that arrive while it
// waits for the clock or for the disk share the next fsync.
func (l *Log) write(c *chain) {
	defer close(l.stopped)
	var last time.Time
	for l.awaitWork() {
		l.pause(l.opts.Sync - time.Since(last))
		last = time.Now()
		closing := l.isClosing() // before the attempt: the last one begins after Close
		err := l.commit(c)
		if err != nil && closing {
			break
		}
		if err != nil {
			l.pause(l.opts.retry)
		}
	}
	l.result = l.finish(c)
}

// awaitWork waits until something is pending. It returns false when nothing is, and
// nothing will be.
func (l *Log) awaitWork() bool {
	for {
		l.mu.Lock()
		waiting, closing := len(l.pending), l.closing
		l.mu.Unlock()
		switch {
		case waiting > 0:
			return true
		case closing:
			return false
		}
		select {
		case <-l.wake:
		case <-l.closed:
		}
	}
}

func (l *Log) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.closed:
	}
}

func (l *Log) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// commit writes what is pending. What fails stays pending.
func (l *Log) commit(c *chain) error {
	l.mu.Lock()
	batch := l.pending[:len(l.pending):len(l.pending)]
	unnoted := l.unnoted
	wasFailing := l.failing != nil
	l.mu.Unlock()

	done, err := c.append(batch)
	if err == nil && unnoted > 0 {
		err = c.note(Note{Event: Dropped, Count: unnoted})
	} else {
		unnoted = 0
	}
	// Before Flush and Admit can return it: who sees the failure finds it reported.
	if err != nil && !wasFailing {
		l.opts.OnError(err)
	}

	l.mu.Lock()
	for _, body := range batch[:done] {
		l.size -= len(body)
	}
	l.pending = append([][]byte(nil), l.pending[done:]...)
	l.durable += uint64(done)
	l.head = c.tail
	if err == nil {
		l.unnoted -= unnoted
	} else {
		l.failures++
	}
	l.failing = err
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	return err
}

// finish closes the chain cleanly, and reports what did not get into it.
func (l *Log) finish(c *chain) error {
	l.mu.Lock()
	left := len(l.pending)
	failing := l.failing
	l.dropped += uint64(left)
	l.mu.Unlock()
	var problem error
	if left > 0 {
		problem = run.Errorf(run.Internal, "audit: %d records are lost: %w", left, failing)
		l.opts.OnError(problem)
	} else if err := c.ready(0); err != nil {
		problem = err
	} else {
		problem = c.note(Note{Event: Closed})
	}
	l.mu.Lock()
	l.head = c.tail
	l.mu.Unlock()
	if err := errors.Join(c.abandon(), l.lock.Close()); err != nil {
		problem = errors.Join(problem, fmt.Errorf("audit: %w", err))
	}
	return problem
}
