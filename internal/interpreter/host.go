package interpreter

import (
	"io/fs"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// host is everything that the search depends on, so that tests can replace it.
type host struct {
	fsys   fs.FS // rooted at "/"
	getenv func(string) string
	cwd    string
	system string // as in runtime.GOOS
	guests hostpath.Guests
}

// brokenShim marks errors after which a search by name continues.
type brokenShim struct{ err error }

func (b *brokenShim) Error() string { return b.err.Error() }
func (b *brokenShim) Unwrap() error { return b.err }
