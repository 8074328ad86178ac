package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/run"
)

// The guest can put anything where its /work belongs. Opening it waits for nobody.
func TestOpenIn(t *testing.T) {
	outside := t.TempDir()
	for _, row := range []struct {
		name  string
		plant func(work string) error
		words string // of the error
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"a directory", func(work string) error { return os.Mkdir(work, 0o700) }, ""},
		{"a link to a directory of its own", func(work string) error { return os.Symlink(".", work) }, ""},
		{"a pipe", func(work string) error { return unix.Mkfifo(work, 0o666) }, "not a directory"},
		{"a file", func(work string) error { return os.WriteFile(work, nil, 0o600) }, "not a directory"},
		{"a link to the host", func(work string) error { return os.Symlink(outside, work) }, "escapes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			at := t.TempDir()
			work := filepath.Join(at, confine.WorkName)
			if err := row.plant(work); err != nil {
				t.Fatal(err)
			}
			scratch, err := os.OpenRoot(at)
			if err != nil {
				t.Fatal(err)
			}
			defer scratch.Close()
			late := time.AfterFunc(10*time.Second, func() {
				writer, err := os.OpenFile(work, os.O_RDWR, 0)
				if err != nil {
					t.Error(err)
					return
				}
				writer.Close()
			})
			root, err := openIn(scratch, workdir.Self())
			if !late.Stop() {
				t.Error("it waits for a writer")
			}
			if err == nil {
				root.Close()
			}
			if row.words == "" {
				if err != nil {
					t.Error(err)
				}
			} else if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), row.words) {
				t.Errorf("%v", err)
			}
		})
	}
}
