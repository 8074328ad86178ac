//go:build linux

package notify

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// Memory reads from the memory of the process that waits for an answer. It may change at any
// time, so a decision must not be about what the kernel will read there. Check Waits after
// it: the pid may belong to another process by now.
func (q Question) Memory(at uint64, data []byte) error {
	fd, err := unix.Open("/proc/"+strconv.Itoa(q.PID)+"/mem", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for len(data) > 0 {
		n, err := unix.Pread(fd, data, int64(at))
		if err != nil {
			return err
		}
		if n == 0 {
			return unix.EFAULT
		}
		data, at = data[n:], at+uint64(n)
	}
	return nil
}

// Text reads a C string, which is a path.
func (q Question) Text(at uint64) (string, error) {
	var text []byte
	for len(text) < unix.PathMax {
		// The next page may not exist.
		part := make([]byte, min(pageSize-at%pageSize, uint64(unix.PathMax-len(text))))
		if err := q.Memory(at, part); err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text, at = append(text, part...), at+uint64(len(part))
	}
	return "", unix.ENAMETOOLONG
}

// pageSize is the smallest that a machine has.
const pageSize = 4096
