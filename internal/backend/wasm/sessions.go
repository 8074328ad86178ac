package wasm

import (
	"context"
	"io"

	"github.com/cordon-sandbox/cordon/internal/backend"
)

var (
	_ backend.SessionOpener  = (*Backend)(nil)
	_ backend.SnapshotLoader = (*Backend)(nil)
)

// OpenSession starts a session.
func (b *Backend) OpenSession(ctx context.Context, o backend.SessionOptions) (backend.Session, error) {
	return asSession(b.openSession(ctx, o))
}

// LoadSession continues a saved session.
func (b *Backend) LoadSession(ctx context.Context, from io.Reader) (backend.SavedSession, error) {
	return asSession(b.loadSession(ctx, from))
}

// Fork returns a new session with a copy of this one's state.
func (s *Session) Fork() (backend.SavedSession, error) { return asSession(s.fork()) }

// asSession returns a nil interface on an error: a nil pointer in an interface would not be
// nil.
func asSession(s *Session, err error) (backend.SavedSession, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
