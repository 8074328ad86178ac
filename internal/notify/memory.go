//go:build linux

package notify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// Memory reads from the memory of the process that waits for an answer. The process may
// change it at any time, so what is read must not decide what the kernel does with it later.
// It returns ESRCH if the process does not wait any more: its number may belong to another one.
func (q Question) Memory(fd int, at uint64, data []byte) error {
	err := readMemory(q.PID, at, data)
	if !q.Waits(fd) {
		return unix.ESRCH
	}
	return err
}

func readMemory(pid int, at uint64, data []byte) error {
	mem, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/mem", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(mem)
	for len(data) > 0 {
		n, err := unix.Pread(mem, data, int64(at))
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
func (q Question) Text(fd int, at uint64) (string, error) {
	var text []byte
	for len(text) < unix.PathMax {
		// The next page may not exist.
		part := make([]byte, min(pageSize-at%pageSize, uint64(unix.PathMax-len(text))))
		if err := q.Memory(fd, at, part); err != nil {
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

// Address is a socket address: that of a host, or a name.
type Address struct {
	Host netip.AddrPort
	// Name is the path of a local socket; an abstract name begins with @.
	Name string
}

// Address reads the socket address of a connect.
func (q Question) Address(fd int, at, size uint64) (a Address, err error) {
	data := make([]byte, min(size, unix.SizeofSockaddrUnix))
	if len(data) < 2 {
		return a, unix.EINVAL
	}
	if err := q.Memory(fd, at, data); err != nil {
		return a, err
	}
	switch family := binary.NativeEndian.Uint16(data); {
	case family == unix.AF_UNIX:
		a.Name = localName(data[2:])
	case family == unix.AF_INET && len(data) >= 8:
		a.Host = netip.AddrPortFrom(netip.AddrFrom4([4]byte(data[4:8])), binary.BigEndian.Uint16(data[2:]))
	case family == unix.AF_INET6 && len(data) >= 24:
		a.Host = netip.AddrPortFrom(netip.AddrFrom16([16]byte(data[8:24])), binary.BigEndian.Uint16(data[2:]))
	default:
		return a, unix.EAFNOSUPPORT
	}
	return a, nil
}

func localName(path []byte) string {
	if len(path) > 0 && path[0] == 0 {
		return "@" + string(path[1:])
	}
	before, _, _ := bytes.Cut(path, []byte{0})
	return string(before)
}

// IsLate reports whether an answer failed because nobody waits for it any more: a signal has
// reached the guest or us.
func IsLate(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINPROGRESS)
}
