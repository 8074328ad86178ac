//go:build linux

package memory

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const inMemory = unix.PROT_READ | unix.PROT_WRITE

func reserve(size uint64) ([]byte, error) {
	if size == 0 {
		return nil, unix.EINVAL
	}
	return unix.Mmap(-1, 0, int(size), inMemory, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
}

func release(bytes []byte) {
	_ = unix.Munmap(bytes) // it was mapped as a whole
}

// frozen is the content of an image: a sealed memory file, which cannot be changed.
type frozen struct {
	fd     int
	length uint64 // without the zeros at the end
}

func freeze(memory []byte) (frozen, error) {
	n := len(memory)
	for n >= pageSize && isZero(memory[n-pageSize:n]) {
		n -= pageSize
	}
	fd, err := unix.MemfdCreate("cordon-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return frozen{}, fmt.Errorf("memfd_create: %w", err)
	}
	f := frozen{fd, uint64(n)}
	if err := f.write(memory[:n]); err != nil {
		f.close()
		return frozen{}, err
	}
	return f, nil
}

// write writes the memory and leaves holes for zeros.
func (f frozen) write(memory []byte) error {
	if err := unix.Ftruncate(f.fd, int64(len(memory))); err != nil {
		return fmt.Errorf("ftruncate: %w", err)
	}
	for at := 0; at < len(memory); {
		end := at
		for end < len(memory) && !isZero(memory[end:end+pageSize]) {
			end += pageSize
		}
		for at < end {
			n, err := unix.Pwrite(f.fd, memory[at:end], int64(at))
			if err != nil {
				return fmt.Errorf("write: %w", err)
			}
			at += n
		}
		for at < len(memory) && isZero(memory[at:at+pageSize]) {
			at += pageSize
		}
	}
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(f.fd), unix.F_ADD_SEALS, all); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	return nil
}

func (f frozen) close() {
	_ = unix.Close(f.fd) // nothing is written, so no error matters
}

// mapped returns a copy-on-write mapping.
func (f frozen) mapped(size uint64) (*Region, error) {
	bytes, err := reserve(size)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	r := &Region{Bytes: bytes, mapped: true, image: f, length: f.length}
	if f.length > 0 {
		_, err = unix.MmapPtr(f.fd, 0, unsafe.Pointer(&bytes[0]), uintptr(f.length), inMemory, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	}
	if err != nil {
		r.unmap()
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return r, nil
}

// renew discards all changes.
func (r *Region) renew() error { return unix.Madvise(r.Bytes, unix.MADV_DONTNEED) }

// madvPopulateWrite exists since Linux 5.14. Older kernels copy pages when they are touched.
const madvPopulateWrite = 23

// Warm copies pages ahead, so that a guest does not wait for them.
func (r *Region) Warm(hot []Pages) {
	for _, p := range hot {
		if err := unix.Madvise(r.Bytes[p.At:p.At+p.Length], madvPopulateWrite); err != nil {
			return
		}
	}
}

func (r *Region) address() uintptr { return uintptr(unsafe.Pointer(&r.Bytes[0])) }
