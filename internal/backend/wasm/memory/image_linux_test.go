package memory

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

func smallImage(t *testing.T) *Image {
	t.Helper()
	memory := make([]byte, 4*pageSize)
	copy(memory, "the image")
	i, err := NewImage(memory, 0, 8*pageSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// Not even cordon can change an image.
func TestImagesAreSealed(t *testing.T) {
	fd := smallImage(t).frozen.fd
	if _, err := unix.Pwrite(fd, []byte("another"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("it can be written to: %v", err)
	}
	for _, size := range []int64{0, 1 << 20} {
		if err := unix.Ftruncate(fd, size); !errors.Is(err, unix.EPERM) {
			t.Errorf("it can be made as large as %d: %v", size, err)
		}
	}
	if _, err := unix.Mmap(fd, 0, pageSize, unix.PROT_WRITE, unix.MAP_SHARED); !errors.Is(err, unix.EPERM) {
		t.Errorf("it can be mapped to be written to: %v", err)
	}
}

// Returned regions have the image's content again, and a bounded number is kept.
func TestRegionsAreRenewed(t *testing.T) {
	i := smallImage(t)
	var taken []*Region
	for range idleRegions + 10 {
		r, err := i.Copy()
		if err != nil {
			t.Fatal(err)
		}
		copy(r.Bytes, "a guest's")
		r.Bytes[6*pageSize] = 1 // after the end of the image
		taken = append(taken, r)
	}
	for _, r := range taken {
		i.Return(r)
	}
	if len(i.idle) != idleRegions {
		t.Errorf("%d are kept", len(i.idle))
	}
	for range idleRegions {
		r, err := i.Copy()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.Bytes[:9]); got != "the image" || r.Bytes[6*pageSize] != 0 {
			t.Fatalf("a copy has %q and %d", got, r.Bytes[6*pageSize])
		}
		defer i.Return(r)
	}
}
