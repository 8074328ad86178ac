package token

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// checkEvery is how often the file is looked at, if anybody asks.
const checkEvery = time.Second

// Store is the token file in use. It is safe for concurrent use, and has nothing to
// close: the file is looked at by those who ask.
type Store struct {
	path   string
	tokens atomic.Pointer[set]
	due    atomic.Int64 // when the file is looked at again, in nanoseconds since 1970

	mu     sync.Mutex
	seen   os.FileInfo // of the file when it was last read; nil if it could not be
	text   []byte      // what it said then
	err    error       // why that is not in use
	onLoad func(error)
}

// Open reads a token file.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	return s, nil
}

// OnReload has f told whenever a changed file was read because somebody asked: with nil
// if its tokens are in use, or why the old ones stay.
func (s *Store) OnReload(f func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onLoad = f
}

// Err says why what the file says now is not in use, nil if it is.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Len is how many tokens there are.
func (s *Store) Len() int { return len(s.tokens.Load().callers) }

// Find gives whose secret it is. A changed file is read first, if it was not looked at
// within the last second. How long it takes says nothing of the secrets there are.
func (s *Store) Find(secret string) (Caller, bool) {
	now := time.Now()
	if due := s.due.Load(); now.UnixNano() >= due && s.due.CompareAndSwap(due, now.Add(checkEvery).UnixNano()) {
		s.refresh(now)
	}
	return s.tokens.Load().find(secret, now)
}

// find compares with all hashes, also after one was the same. No file has the hash of an
// empty secret: parseDigest refuses it.
func (t *set) find(secret string, now time.Time) (Caller, bool) {
	shown := sha256.Sum256([]byte(secret))
	at := -1
	for _, d := range t.digests {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(shown[:], d.digest[:]), d.caller, at)
	}
	if at < 0 {
		return Caller{}, false
	}
	k := t.callers[at]
	if !k.expires.IsZero() && !now.Before(k.expires) {
		return Caller{}, false
	}
	return k.Caller, true
}

// refresh reads the file again if it is not the one that was read.
func (s *Store) refresh(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path)
	if err == nil && s.seen != nil && isSame(info, s.seen) && now.Sub(info.ModTime()) > 2*checkEvery {
		return
	}
	before, failed := s.text, s.err
	err = s.load()
	// A file that has changed just now is read again until it rests: two changes can have
	// the same time. That is nothing to tell.
	if s.onLoad != nil && (!bytes.Equal(before, s.text) || message(err) != message(failed)) {
		s.onLoad(err)
	}
}

// Reload reads the file now. If that fails, the tokens stay as they are.
func (s *Store) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due.Store(time.Now().Add(checkEvery).UnixNano())
	return s.load()
}

func (s *Store) load() error {
	tokens, err := s.read()
	if err == nil {
		s.tokens.Store(tokens)
	}
	s.err = err
	return err
}

func (s *Store) read() (*set, error) {
	s.seen, s.text = nil, nil
	// Looked at before it is opened: to open a pipe waits for who writes into it.
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, run.Errorf(run.Invalid, "%s is not a regular file, and cannot be read again when it changes: name a token file", s.path)
	}
	f, err := form.Open(s.path, "make one, or start without tokens where that is possible")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, run.Errorf(run.Invalid, "token file cannot be looked at: %w", err)
	}
	if err := checkPrivate(s.path, info); err != nil {
		return nil, err
	}
	if s.text, err = form.Contents(f); err != nil {
		return nil, err
	}
	s.seen = info
	return parse(s.path, s.text)
}

// isSame says whether nothing shows that a file has changed.
func isSame(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
