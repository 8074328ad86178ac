package zygote

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// attend reads the zygote's messages, and answers the kernel's questions about it and its
// workers, until it is dead. It has its own thread, because a question blocks the asking
// process until it is answered.
func (z *Zygote) attend() {
	control := unix.PollFd{Fd: int32(z.control.number()), Events: unix.POLLIN}
	if z.config.OneShot {
		control.Fd = -1 // a worker closes its control socket and sends nothing
	}
	fds := []unix.PollFd{control, {Fd: int32(z.listener.number()), Events: unix.POLLIN}}
	allowed, r := numbers(zygoteMay), newRoom()
	// What waits for this CPU goes first: the next call blocks the thread, and Go may take
	// milliseconds to give its CPU to another.
	runtime.Gosched()
	for fds[0].Fd >= 0 || fds[1].Fd >= 0 {
		_, err := unix.Ppoll(fds, nil, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			z.fail(fmt.Errorf("waiting for the fork server's messages: %w", err))
			return
		}
		if fds[1].Revents != 0 && !z.answer(fds[1], allowed) {
			fds[1].Fd = -1
		}
		if fds[0].Revents != 0 && !z.listen(int(fds[0].Fd), r) {
			return
		}
	}
}

// listen reads one message, and reports whether more may come.
func (z *Zygote) listen(control int, r room) bool {
	m, err := receive(control, r)
	if err == unix.EAGAIN {
		return true
	}
	if err != nil {
		z.fail(errors.New("the fork server has ended"))
		return false
	}
	var numbers [4]int
	if m.data[0] != 'D' || parseInts(string(m.data[1:]), numbers[:]) != nil {
		z.fail(fmt.Errorf("the fork server failed: %s", m.data))
		return false
	}
	z.workerEnded(numbers[0], exitOf(unix.WaitStatus(numbers[1]), numbers[2], numbers[3]))
	return true
}

// parseInts parses exactly as many numbers as the slice has room for.
func parseInts(text string, numbers []int) (err error) {
	fields := strings.Fields(text)
	if len(fields) != len(numbers) {
		return fmt.Errorf("%d numbers, want %d", len(fields), len(numbers))
	}
	for i, word := range fields {
		if numbers[i], err = strconv.Atoi(word); err != nil {
			return err
		}
	}
	return nil
}

func exitOf(status unix.WaitStatus, micros, kib int) Exit {
	exit := Exit{Code: status.ExitStatus(), CPUTime: time.Duration(micros) * time.Microsecond, Memory: policy.Bytes(kib) * policy.KiB}
	if status.Signaled() {
		exit.Code, exit.Signal = -1, run.SignalName(int(status.Signal()))
	}
	return exit
}

func (z *Zygote) workerEnded(number int, exit Exit) {
	if w := z.forget(number); w != nil {
		w.end(exit)
	}
}

func (z *Zygote) forget(number int) *Worker {
	z.mu.Lock()
	defer z.mu.Unlock()
	w := z.workers[number]
	if w != nil {
		delete(z.workers, number)
		delete(z.sealed, w.PID)
		z.endIfUnused()
	}
	return w
}

// Retire ends the zygote when its last worker has ended.
func (z *Zygote) Retire() {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.retired = true
	z.endIfUnused()
}

func (z *Zygote) endIfUnused() {
	if z.retired && len(z.workers) == 0 {
		z.failLocked(errors.New("retired"))
	}
}

// fail ends the zygote and reports the error to all callers that wait for its workers.
func (z *Zygote) fail(err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.failLocked(err)
}

func (z *Zygote) failLocked(err error) {
	if z.err == nil {
		z.err = err
	}
	z.closed = true
	z.process.Kill()
}

// reap waits for the zygote to die. Its workers die with it, by their pid namespace or by
// their parent death signal.
func (z *Zygote) reap() {
	status, usage := z.process.Wait()
	z.control.use(func(fd int) {
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // wakes attend, even if another process holds the other end
	})
	z.wait.Wait() // until attend has read the last message
	z.mu.Lock()
	killed := z.closed
	z.failLocked(errors.New("the fork server has ended"))
	orphans := z.workers
	z.workers, z.sealed = map[int]*Worker{}, map[int]*Worker{}
	z.mu.Unlock()
	for _, w := range orphans {
		if z.config.OneShot {
			// The zygote was the worker itself.
			w.orphaned = killed
			micros := (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
			w.end(exitOf(status, int(micros), int(usage.Maxrss)))
			continue
		}
		w.orphaned = true
		w.end(Exit{Code: -1, Signal: "SIGKILL"})
	}
	z.control.close()
	z.listener.close()
	close(z.done)
}

// Done is closed when the zygote and all its workers are dead.
func (z *Zygote) Done() <-chan struct{} { return z.done }

// Gone reports whether the zygote and all its workers are dead.
func (z *Zygote) Gone() bool { return closed(z.done) }

// closed reports whether a channel that carries no values is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Alive reports whether the zygote can still fork workers.
func (z *Zygote) Alive() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return !z.closed
}

// Forks returns the number of workers forked so far.
func (z *Zygote) Forks() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.forks
}

// Close kills the zygote and all its workers, and returns when they are dead.
func (z *Zygote) Close() {
	z.fail(errors.New("closed"))
	<-z.done
}
