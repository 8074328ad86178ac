package portable

import (
	"os"
	"sync/atomic"
)

// stream is our end of a pipe that a guest writes to. After the guest's process has ended, all that
// it has written is in the pipe; but other processes may hold the pipe open.
type stream struct {
	file *os.File    // not embedded: its WriteTo would bypass Read
	over atomic.Bool // nothing is waited for
	late int         // how much was read since then
}

// maxLate is how much is read at most after that: no pipe of an ordinary user holds more, and
// another process may continue to write.
const maxLate = 1 << 20

// stopWaiting ends the stream where there is nothing to read now. A reader that is late still gets
// what the guest has written, where the system can do that.
func (s *stream) stopWaiting() {
	s.over.Store(true)
	if s.wake() != nil {
		_ = s.file.Close() // pipes of this system have no deadlines
	}
}
