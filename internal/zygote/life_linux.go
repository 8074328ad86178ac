package zygote

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// attend hears what the zygote says, and answers the kernel's questions about
// it and its workers, until it is gone. It has a thread of its own: a question
// stops the one who asks until it is answered.
func (z *Zygote) attend() {
	control := unix.PollFd{Fd: int32(z.control.number()), Events: unix.POLLIN}
	if z.config.OneShot {
		control.Fd = -1 // a worker closes its control socket and says nothing
	}
	fds := []unix.PollFd{control, {Fd: int32(z.listener.number()), Events: unix.POLLIN}}
	allowed := numbers(zygoteMay)
	for fds[0].Fd >= 0 || fds[1].Fd >= 0 {
		_, err := unix.Ppoll(fds, nil, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			z.fail(fmt.Errorf("the fork server cannot be attended to: %w", err))
			return
		}
		if fds[1].Revents != 0 && !z.answer(fds[1], allowed) {
			fds[1].Fd = -1
		}
		if fds[0].Revents != 0 && !z.listen(int(fds[0].Fd)) {
			return
		}
	}
}

// listen hears one message, and says whether more may come.
func (z *Zygote) listen(control int) bool {
	m, err := receive(control)
	if err == unix.EAGAIN {
		return true
	}
	if err != nil {
		z.fail(errors.New("the fork server is gone"))
		return false
	}
	var numbers [4]int
	if m.data[0] != 'D' || parseInts(string(m.data[1:]), numbers[:]) != nil {
		z.fail(fmt.Errorf("the fork server fails: %s", m.data))
		return false
	}
	z.buried(numbers[0], exitOf(unix.WaitStatus(numbers[1]), numbers[2], numbers[3]))
	return true
}

// parseInts reads as many numbers as there is room for, and no others.
func parseInts(text string, numbers []int) (err error) {
	words := strings.Fields(text)
	if len(words) != len(numbers) {
		return fmt.Errorf("%d numbers instead of %d", len(words), len(numbers))
	}
	for i, word := range words {
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

func (z *Zygote) buried(number int, exit Exit) {
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

// Retire lets the zygote end when its last worker has.
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

// fail ends the zygote and tells everybody who waits for a worker of its.
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

// reap waits for the zygote's death, after which none of its workers lives:
// they die with it, by their pid namespace or by their death signal.
func (z *Zygote) reap() {
	status, usage := z.process.Wait()
	z.control.use(func(fd int) {
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // wakes attend, whoever else still holds the other end
	})
	z.wait.Wait() // for its last words
	z.fail(errors.New("the fork server is gone"))
	z.mu.Lock()
	orphans := z.workers
	z.workers, z.sealed = map[int]*Worker{}, map[int]*Worker{}
	z.mu.Unlock()
	for _, w := range orphans {
		if z.config.OneShot {
			// It was the worker itself.
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

// Done is closed when the zygote and all of its workers are gone.
func (z *Zygote) Done() <-chan struct{} { return z.done }

// Gone says whether the zygote and all of its workers are.
func (z *Zygote) Gone() bool { return closed(z.done) }

// closed says whether a channel that carries nothing is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Alive says whether the zygote can still be asked for workers.
func (z *Zygote) Alive() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return !z.closed
}

// Forks counts the workers so far.
func (z *Zygote) Forks() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.forks
}

// Close kills the zygote and all of its workers, and returns when they are
// gone.
func (z *Zygote) Close() {
	z.fail(errors.New("closed"))
	<-z.done
}
