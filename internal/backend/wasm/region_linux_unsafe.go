//go:build linux

package wasm

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

// frozen is a memory that nobody changes: a file without a name, sealed.
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

// write leaves holes where there is nothing.
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
	_ = unix.Close(f.fd) // nothing of a memory is left to be written
}

// mapped gives a copy that is made page by page, as they are changed.
func (f frozen) mapped(size uint64) (*region, error) {
	bytes, err := reserve(size)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	r := &region{bytes: bytes, mapped: true, image: f, length: f.length}
	if f.length > 0 {
		_, err = unix.MmapPtr(f.fd, 0, unsafe.Pointer(&bytes[0]), uintptr(f.length), inMemory, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	}
	if err != nil {
		r.unmap()
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return r, nil
}

// renew forgets what was changed.
func (r *region) renew() error { return unix.Madvise(r.bytes, unix.MADV_DONTNEED) }

// madvPopulateWrite is since Linux 5.14. Before, pages come when they are touched.
const madvPopulateWrite = 23

// warm copies pages before a guest waits for them.
func (r *region) warm(hot []pages) {
	for _, p := range hot {
		if err := unix.Madvise(r.bytes[p.at:p.at+p.length], madvPopulateWrite); err != nil {
			return
		}
	}
}

func (r *region) address() uintptr { return uintptr(unsafe.Pointer(&r.bytes[0])) }
