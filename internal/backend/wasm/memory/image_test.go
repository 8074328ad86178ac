package memory

import "testing"

// A new instance may use the image of before a rotation, which no guest uses any more: its
// file must stay open until then, since its number could be another file's.
func TestHeldImageStaysOpen(t *testing.T) {
	content := make([]byte, 1<<16)
	copy(content, "the image")
	i, err := NewImage(content, 0, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	i.Hold()
	i.Close() // by the rotation
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
