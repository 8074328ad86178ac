//go:build !linux

package memory

import "errors"

func reserve(uint64) ([]byte, error) { return nil, errors.New("not supported on this system") }
func release([]byte)                 {}

// frozen is the content of an image. It is never changed.
type frozen struct{ data []byte }

func freeze(memory []byte) (frozen, error) {
	return frozen{append([]byte(nil), memory...)}, nil
}

func (f frozen) close() {}

// mapped returns a copy.
func (f frozen) mapped(uint64) (*Region, error) {
	return &Region{Bytes: append([]byte(nil), f.data...), image: f, length: uint64(len(f.data))}, nil
}

var errGrown = errors.New("the region has grown: a new copy is cheaper")

// renew restores the content of the image.
func (r *Region) renew() error {
	if len(r.Bytes) > len(r.image.data) {
		return errGrown
	}
	copy(r.Bytes, r.image.data)
	return nil
}

// Warm does nothing: all pages are allocated.
func (r *Region) Warm([]Pages) {}

// Changed returns the pages of a region that differ from its image.
func (r *Region) Changed(size uint64) ([]Pages, error) {
	return Differing(r.Bytes[:size], r.image.data), nil
}
