package interpreter

import (
	"context"
	"io/fs"
	"strings"
)

// host is all that the search looks at, so that tests can bring their own.
type host struct {
	fsys   fs.FS // rooted at "/"
	getenv func(string) string
	cwd    string
	system string // as in runtime.GOOS
	ask    func(ctx context.Context, name string) (facts, error)
}

// brokenShim marks the failures after which a search by name may go on.
type brokenShim struct{ err error }

func (b *brokenShim) Error() string { return b.err.Error() }
func (b *brokenShim) Unwrap() error { return b.err }

// check holds an interpreter's own words to what cordon needs.
func (f facts) check(found string) error {
	if !strings.EqualFold(f.Implementation, "cpython") {
		return notCPython(found, f.Implementation)
	}
	if f.Version[0] != 3 || f.Version[1] < Oldest {
		return tooOld(found, f.Version)
	}
	return nil
}
