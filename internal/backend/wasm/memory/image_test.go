package memory

import "testing"

// A new instance may use the image from before a rotation. The image's file must stay open,
// because another file could get its descriptor number.
func TestHeldImageStaysOpen(t *testing.T) {
	content := make([]byte, 1<<16)
	copy(content, "the image")
	i, err := NewImage(content, 0, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	i.Hold()
	i.Close() // as the rotation does
	r, err := i.Copy()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Bytes[:9]); got != "the image" {
		t.Errorf("a copy begins with %q", got)
	}
	i.Return(r)
	i.Close()
}
