package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/run"
)

// write replaces a token file as an editor does: it writes another file and renames it.
func write(t *testing.T, path, text string) {
	t.Helper()
	beside := path + ".new"
	if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(beside, path); err != nil {
		t.Fatal(err)
	}
}

func tokenFile(numbers ...int) string {
	text := "tokens: ["
	for _, n := range numbers {
		text += fmt.Sprintf("{name: t%d, sha256: %s}, ", n, hashOf(n))
	}
	return text + "]\n"
}

func open(t *testing.T, text string) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	write(t, path, text)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s, path
}

// pass makes the next request check the file, as if a second had passed.
func (s *Store) pass() { s.due.Store(0) }

func wantFound(t *testing.T, s *Store, n int, want bool) {
	t.Helper()
	if who, ok := s.Find(secretOf(n)); ok != want || ok != (who.Name == fmt.Sprintf("t%d", n)) {
		t.Errorf("secret %d: %v, %q", n, ok, who.Name)
	}
}

func TestRotation(t *testing.T) {
	s, path := open(t, tokenFile(1))
	var told []error
	s.OnReload(func(err error) { told = append(told, err) })
	wantFound(t, s, 1, true)

	write(t, path, tokenFile(1, 2))
	wantFound(t, s, 2, false) // the file was checked within this second
	s.pass()
	wantFound(t, s, 2, true)
	wantFound(t, s, 1, true)

	write(t, path, "tokens: [{name: t1\n")
	s.pass()
	wantFound(t, s, 1, true) // the old tokens stay in use
	if err := s.Err(); !errors.Is(err, run.ErrInvalid) || !strings.Contains(err.Error(), "tokens.yaml:1: is not valid YAML") {
		t.Errorf("error %v", err)
	}
	s.pass()
	wantFound(t, s, 2, true)

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.pass()
	wantFound(t, s, 1, true)
	if err := s.Err(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}

	write(t, path, tokenFile(2))
	s.pass()
	wantFound(t, s, 1, false)
	wantFound(t, s, 2, true)

	write(t, path, "tokens: []")
	s.pass()
	wantFound(t, s, 2, false)
	if s.Err() != nil || s.Len() != 0 {
		t.Errorf("%d tokens, error %v", s.Len(), s.Err())
	}

	var words []string
	for _, err := range told {
		words = append(words, fmt.Sprint(err != nil))
	}
	// Each change was reported once, though a new file is read more often.
	if got := strings.Join(words, " "); got != "false true true false false" {
		t.Errorf("reported: %s", got)
	}
}

// A change that keeps the size, the time and the inode is noticed while the file is new: the
// clock of a file system is coarse.
func TestChangeWithinTheSameTick(t *testing.T) {
	s, path := open(t, tokenFile(1))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(tokenFile(2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s.pass()
	wantFound(t, s, 2, true)
}

// A file that does not change is not read again.
func TestUnchangedFileIsNotRead(t *testing.T) {
	s, path := open(t, tokenFile(1))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	s.pass()
	wantFound(t, s, 1, true)
	before := s.tokens.Load()
	s.pass()
	wantFound(t, s, 1, true)
	if s.tokens.Load() != before {
		t.Error("the unchanged file was read again")
	}
	if err := s.Reload(); err != nil || s.tokens.Load() == before {
		t.Errorf("Reload did not read the file: %v", err)
	}
}

func TestReload(t *testing.T) {
	s, path := open(t, tokenFile(1))
	write(t, path, tokenFile(2))
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, 2, true)
	write(t, path, "token: []")
	if err := s.Reload(); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	wantFound(t, s, 2, true)
}

// Runs under way and the used part of a rate are counted by the caller's name: a new file or
// a new secret does not reset them.
func TestQuotaSurvivesRotation(t *testing.T) {
	text := "tokens: [{name: a, sha256: %s, rate: 1/h, burst: 2, concurrent: 2}]"
	s, path := open(t, fmt.Sprintf(text, hashOf(1)))
	line := admission.NewLine(admission.Options{Concurrent: 8})
	enter := func(n int) error {
		who, ok := s.Find(secretOf(n))
		if !ok {
			t.Fatalf("secret %d is unknown", n)
		}
		turn, err := line.Enter(admission.WithCaller(t.Context(), &admission.Caller{Name: who.Name, Quota: who.Quota}), nil)
		turn.Leave()
		return err
	}
	if err := enter(1); err != nil {
		t.Fatal(err)
	}
	write(t, path, fmt.Sprintf(text, hashOf(2)))
	s.pass()
	if err := enter(2); err != nil {
		t.Fatal(err)
	}
	if err := enter(2); !errors.Is(err, run.ErrBusy) {
		t.Errorf("a third run within two an hour: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, path, words string }{
		{"no file", filepath.Join(dir, "none.yaml"), "none.yaml does not exist: create it"},
		{"a directory", dir, "is a directory: name a token file in it"},
		{"a device", os.DevNull, "is not a regular file"},
		{"no name", "", "does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(tt.path)
			if !errors.Is(err, run.ErrInvalid) || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Many requests arrive while the file changes: each finds the old tokens or the new ones.
func TestHammerRotation(t *testing.T) {
	s, path := open(t, tokenFile(0, 1))
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s.pass()
				wantFound(t, s, 0, true)
				if _, ok := s.Find(secretOf(99)); ok {
					t.Error("an unknown secret was accepted")
				}
			}
		})
	}
	for i := range 50 {
		write(t, path, tokenFile(0, i+1))
		if err := s.Reload(); err != nil {
			t.Error(err)
		}
		wantFound(t, s, i+1, true)
	}
	close(stop)
	all.Wait()
}
