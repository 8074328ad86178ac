package zygote

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/output"
)

// collector reads one stream of a guest.
type collector struct {
	output.Stream
	pipe  *descriptor
	again bool     // the pipe is for further calls, too
	over  bool     // the guest closed its end
	file  *os.File // of a live stream
}

// start begins to read a live stream. The caller's writer may block.
func (c *collector) start() {
	if c.Live == nil {
		return
	}
	if c.again {
		c.file = c.pipe.copy("output")
	} else {
		c.file = c.pipe.file("output")
	}
	if c.file != nil {
		c.Start(c.file)
	}
}

// wants is the descriptor to poll, or -1.
func (c *collector) wants() int32 {
	if c.over || c.file != nil || c.pipe == nil {
		return -1
	}
	return int32(c.pipe.number())
}

// read reads what is in the pipe now.
func (c *collector) read() {
	c.pipe.use(func(fd int) {
		n, err := c.Once(func(b []byte) (int, error) { return unix.Read(fd, b) })
		c.over = n == 0 && err == nil
	})
}

// finish reads the rest of the pipe and closes it. All that the guest wrote before its
// report is there by now; later output is dropped.
func (c *collector) finish() output.Capture {
	if c.file != nil {
		defer c.file.Close()
	} else if !c.over {
		c.pipe.use(c.Drain)
	}
	return c.Finish()
}
