package zygote

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/output"
)

// collector reads one stream of a guest.
type collector struct {
	output.Stream
	pipe *descriptor
	over bool     // the guest has closed its end
	file *os.File // of a live stream
}

// start begins to read a live stream: whoever takes it may block.
func (c *collector) start() {
	if c.Live == nil {
		return
	}
	if c.file = c.pipe.file("output"); c.file != nil {
		c.Start(c.file)
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
	c.pipe.use(func(fd int) {
		n, err := c.Once(func(b []byte) (int, error) { return unix.Read(fd, b) })
		c.over = n == 0 && err == nil
	})
}

// finish takes what is left in the pipe, and closes it. All that the guest
// wrote before its report is there by now; nobody waits for what comes after.
func (c *collector) finish() output.Capture {
	if c.file != nil {
		defer c.file.Close()
	} else if !c.over {
		c.pipe.use(c.Drain)
	}
	return c.Finish()
}
