//go:build !linux

package memory

import "errors"

func reserve(uint64) ([]byte, error) { return nil, errors.New("memory is Go's here") }
func release([]byte)                 {}

// frozen is the content of an image, which nobody changes.
type frozen struct{ data []byte }

func freeze(memory []byte) (frozen, error) {
	return frozen{append([]byte(nil), memory...)}, nil
}

func (f frozen) close() {}

// mapped gives a copy.
func (f frozen) mapped(uint64) (*Region, error) {
	return &Region{Bytes: append([]byte(nil), f.data...), image: f, length: uint64(len(f.data))}, nil
}

var errGrown = errors.New("it has grown: a new copy takes less")

// renew makes it a copy again.
func (r *Region) renew() error {
	if len(r.Bytes) > len(r.image.data) {
		return errGrown
	}
	copy(r.Bytes, r.image.data)
	return nil
}

// Warm has nothing to do: all pages are there.
func (r *Region) Warm([]Pages) {}

// Changed gives the pages of a region that differ from its image.
func (r *Region) Changed(size uint64) ([]Pages, error) {
	return Differing(r.Bytes[:size], r.image.data), nil
}
