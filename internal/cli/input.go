package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Stdin stands for standard input where a file or a value is expected.
const Stdin = "-"

// FromStdin reports whether a value is read from standard input.
func FromStdin(value string) bool { return value == Stdin || value == "@"+Stdin }

// OpenFile gives a missing or unreadable file the error class that a shell would.
func OpenFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, run.Errorf(run.NotFound, "%s does not exist", path)
	case err != nil:
		return nil, run.Errorf(run.NotExecutable, "cannot read %s: %w", path, errors.Unwrap(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, run.Errorf(run.NotExecutable, "%s is a directory: name a file in it", path)
	}
	return f, nil
}

// ReadFile reads a file, or standard input. It reads at most one byte more than most, so
// that it also refuses a device or a pipe without end.
func ReadFile(path string, most int, stdin io.Reader) ([]byte, error) {
	from, name := stdin, "standard input"
	if path != Stdin {
		f, err := OpenFile(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from, name = f, path
	}
	data, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	switch {
	case err != nil:
		return nil, run.Errorf(run.NotExecutable, "%s cannot be read: %w", name, err)
	case len(data) > most:
		return nil, run.Errorf(run.Invalid, "%s is larger than %v, the maximum", name, policy.Bytes(most))
	}
	return data, nil
}

// Claim is an option that may read standard input.
type Claim struct {
	Name   string
	Wanted bool
}

// OneClaim refuses more than one reader of standard input, which can be read only once.
func OneClaim(claims ...Claim) error {
	var names []string
	for _, c := range claims {
		if c.Wanted {
			names = append(names, c.Name)
		}
	}
	switch len(names) {
	case 0, 1:
		return nil
	case 2:
		return run.Errorf(run.Invalid, "%s and %s both read standard input: choose one", names[0], names[1])
	}
	return run.Errorf(run.Invalid, "%s all read standard input: choose one", strings.Join(names, ", "))
}
