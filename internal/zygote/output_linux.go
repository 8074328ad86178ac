package zygote

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
)

// collectDelay is how long a guest may run before somebody reads its output.
// A pipe holds 64 KiB: the output of a short run is taken in one go at its
// end, and costs neither goroutines nor polling.
const collectDelay = time.Millisecond

// collector reads one stream of a guest. What goes over the limit is counted
// and dropped, before it can take any memory.
type collector struct {
	worker  *Worker
	pipe    *descriptor
	live    io.Writer
	limit   int64
	onLimit policy.OutputAction

	mu       sync.Mutex // held by whoever reads
	capture  Capture
	file     *os.File // of the reader that waits, once it has started
	finished bool
	done     sync.WaitGroup
	timer    *time.Timer
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (w *Worker) collect(pipe *descriptor, live io.Writer, g Guest) *collector {
	c := &collector{worker: w, pipe: pipe, live: live, limit: int64(g.Limits.Output), onLimit: g.OnOutputLimit}
	if live != nil {
		c.start()
	} else {
		c.timer = time.AfterFunc(collectDelay, c.start)
	}
	return c
}

// start begins to read while the guest runs.
func (c *collector) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return
	}
	if c.file = c.pipe.file("output"); c.file == nil {
		return
	}
	c.done.Go(func() { c.copy(c.file.Read) })
}

func (c *collector) copy(read func([]byte) (int, error)) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := read(buffer[:])
		if n > 0 {
			c.take(buffer[:n])
		}
		if err != nil || n <= 0 {
			return
		}
	}
}

func (c *collector) take(data []byte) {
	c.capture.Size += int64(len(data))
	if room := c.limit - int64(len(c.capture.Data)); int64(len(data)) > room {
		data = data[:max(0, room)]
		if c.onLimit == policy.OutputKill {
			c.worker.Kill(KilledOutput)
		}
	}
	c.capture.Data = append(c.capture.Data, data...)
	if c.live != nil && len(data) > 0 {
		if _, err := c.live.Write(data); err != nil {
			c.live = nil // the caller went away; the Result still has it
		}
	}
}

// finish takes what is left in the pipe. All that the guest wrote before its
// report is there by now; nobody waits for what comes after.
func (c *collector) finish() Capture {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = true
	if c.file == nil {
		c.pipe.use(c.drain)
		return c.capture
	}
	_ = c.file.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	c.done.Wait()
	if raw, err := c.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { c.drain(int(fd)) })
	}
	c.file.Close()
	return c.capture
}

// drain reads until the pipe is empty, within bounds: other threads of the
// guest may still be writing.
func (c *collector) drain(fd int) {
	left := 64
	c.copy(func(b []byte) (int, error) {
		if left--; left < 0 {
			return 0, io.EOF
		}
		return unix.Read(fd, b)
	})
}
