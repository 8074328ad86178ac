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

// checkEvery is how often the file is checked while requests arrive.
const checkEvery = time.Second

// Store is the token file in use. It is safe for concurrent use, and needs no Close:
// requests check the file.
type Store struct {
	path   string
	tokens atomic.Pointer[set]
	due    atomic.Int64 // when to check the file again, in nanoseconds since 1970

	mu     sync.Mutex
	seen   os.FileInfo // of the file when it was last read; nil if that failed
	text   []byte      // its content then
	err    error       // why that content is not in use
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

// OnReload registers f, which is called when a request causes a changed file to be read:
// with nil if its tokens are in use, or with the reason why the old ones stay.
func (s *Store) OnReload(f func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onLoad = f
}

// Err returns why the current content of the file is not in use, or nil.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Len returns the number of tokens.
func (s *Store) Len() int { return len(s.tokens.Load().callers) }

// Find returns the caller with this secret. It first reads a changed file, if it was not
// checked within the last second. How long it takes reveals nothing about the secrets.
func (s *Store) Find(secret string) (Caller, bool) {
	now := time.Now()
	if due := s.due.Load(); now.UnixNano() >= due && s.due.CompareAndSwap(due, now.Add(checkEvery).UnixNano()) {
		s.refresh(now)
	}
	return s.tokens.Load().find(secret, now)
}

// find compares with all hashes, even after a match. No file has the hash of an empty
// secret: parseDigest refuses it.
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

// refresh reads the file again if it has changed.
func (s *Store) refresh(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path)
	if err == nil && s.seen != nil && isSame(info, s.seen) && now.Sub(info.ModTime()) > 2*checkEvery {
		return
	}
	before, failed := s.text, s.err
	err = s.load()
	// A file that changed just now is read again until it is a little older, since two
	// changes can have the same time. That is not reported.
	if s.onLoad != nil && (!bytes.Equal(before, s.text) || message(err) != message(failed)) {
		s.onLoad(err)
	}
}

// Reload reads the file now. If that fails, the old tokens stay in use.
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
	// Checked before opening: opening a pipe blocks until there is a writer.
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, run.Errorf(run.Invalid, "%s is not a regular file, so changes to it cannot be read: name a token file", s.path)
	}
	f, err := form.Open(s.path, "create it with cordon token new NAME --tokens, or start without --tokens on loopback or a Unix socket")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, run.Errorf(run.Invalid, "cannot stat the token file: %w", err)
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

// isSame reports that nothing indicates a change of the file.
func isSame(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
