package zygote

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/output"
)

// collector reads one stream of a guest.
type collector struct {
	output.Sink
	pipe *descriptor
	over bool     // the guest has closed its end
	file *os.File // of the goroutine that serves a live stream
	done sync.WaitGroup
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// start begins to read a live stream: whoever takes it may block.
func (c *collector) start() {
	if c.Live == nil {
		return
	}
	if c.file = c.pipe.file("output"); c.file != nil {
		c.done.Go(func() { c.copy(c.file.Read) })
	}
}

// wants is the descriptor to wait for, -1 for none.
func (c *collector) wants() int32 {
	if c.over || c.file != nil || c.pipe == nil {
		return -1
	}
	return int32(c.pipe.number())
}

// read takes what the pipe has now.
func (c *collector) read() {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	c.pipe.use(func(fd int) {
		n, err := unix.Read(fd, buffer[:])
		if n > 0 {
			c.Take(buffer[:n])
		}
		c.over = n == 0 && err == nil
	})
}

func (c *collector) copy(read func([]byte) (int, error)) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := read(buffer[:])
		if n > 0 {
			c.Take(buffer[:n])
		}
		if err != nil || n <= 0 {
			return
		}
	}
}

// finish takes what is left in the pipe, and closes it. All that the guest
// wrote before its report is there by now; nobody waits for what comes after.
func (c *collector) finish() output.Capture {
	if c.file != nil {
		_ = c.file.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
		c.done.Wait()
		if raw, err := c.file.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { c.drain(int(fd)) })
		}
		c.file.Close()
	} else if !c.over {
		c.pipe.use(c.drain)
	}
	return c.Capture
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
