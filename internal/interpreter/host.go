package interpreter

import (
	"io/fs"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
)

// host is all that the search looks at, so that tests can bring their own.
type host struct {
	fsys   fs.FS // rooted at "/"
	getenv func(string) string
	cwd    string
	system string // as in runtime.GOOS
	guests hostpath.Guests
}

// brokenShim marks the failures after which a search by name may go on.
type brokenShim struct{ err error }

func (b *brokenShim) Error() string { return b.err.Error() }
func (b *brokenShim) Unwrap() error { return b.err }
