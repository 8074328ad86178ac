package portable

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
)

// Another process may hold the other end of a pipe after the guest has ended. What the guest has
// written is read, also by a reader that comes late.
func TestStreamsThatStayOpen(t *testing.T) {
	open := func(t *testing.T) (*stream, *os.File) {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		s := &stream{file: r}
		t.Cleanup(func() {
			s.file.Close()
			w.Close()
		})
		return s, w
	}
	t.Run("late reader", func(t *testing.T) {
		s, w := open(t)
		want := bytes.Repeat([]byte("x"), 40_000)
		if _, err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		s.stopWaiting()
		if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	t.Run("waiting reader", func(t *testing.T) {
		s, w := open(t)
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		one := make([]byte, 1)
		if _, err := s.Read(one); err != nil {
			t.Fatal(err)
		}
		go s.stopWaiting()
		if n, err := s.Read(one); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("endless writer", func(t *testing.T) {
		s, w := open(t)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}()
		s.stopWaiting()
		if n, err := io.Copy(io.Discard, s); err != nil || n > maxLate+64<<10 {
			t.Errorf("%d bytes, %v", n, err)
		}
		s.file.Close()
		<-ended
	})
}
