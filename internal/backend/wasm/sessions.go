package wasm

import (
	"context"
	"io"

	"github.com/cordon-sandbox/cordon/internal/backend"
)

var _ backend.SessionOpener = (*Backend)(nil)

// OpenSession starts a session.
func (b *Backend) OpenSession(ctx context.Context, o backend.SessionOptions) (backend.Session, error) {
	return asSession(b.openSession(ctx, o.Restricted))
}

// LoadSession continues a session that was saved.
func (b *Backend) LoadSession(ctx context.Context, from io.Reader) (backend.Session, error) {
	return asSession(b.loadSession(ctx, from))
}

// Fork gives a second session, which begins with all that this one has.
func (s *Session) Fork() (backend.Session, error) { return asSession(s.fork()) }

// asSession gives no session after an error: a nil pointer in an interface would look
// like one.
func asSession(s *Session, err error) (backend.Session, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
