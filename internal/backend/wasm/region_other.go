//go:build !linux

package wasm

import "errors"

func reserve(uint64) ([]byte, error) { return nil, errors.New("memory is Go's here") }
func release([]byte)                 {}

// frozen is a memory that nobody changes.
type frozen struct{ data []byte }

func freeze(memory []byte) (frozen, error) {
	return frozen{append([]byte(nil), memory...)}, nil
}

func (f frozen) close() {}

// mapped gives a copy.
func (f frozen) mapped(uint64) (*region, error) {
	return &region{bytes: append([]byte(nil), f.data...), image: f, length: uint64(len(f.data))}, nil
}

var errGrown = errors.New("it has grown: a new copy takes less")

// renew makes it a copy again.
func (r *region) renew() error {
	if len(r.bytes) > len(r.image.data) {
		return errGrown
	}
	copy(r.bytes, r.image.data)
	return nil
}

// warm has nothing to do: all pages are there.
func (r *region) warm([]pages) {}

// changed gives the pages that differ from the image, or may.
func (r *region) changed(size uint64) ([]pages, error) {
	return differing(r.bytes[:size], r.image.data), nil
}
