package audit

import (
	"bytes"
	"io"
	"os"
	"runtime"

	"github.com/cordon-sandbox/cordon/run"
)

// A key has at least minKey bytes; a file longer than maxKey is not a key.
const (
	minKey = 32
	maxKey = 4096
)

// ReadKey reads a key from a file that others cannot read. It ignores a newline at the
// end.
func ReadKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, run.Errorf(run.Invalid, "key file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		return nil, run.Errorf(run.Invalid, "key file %s has mode %#o, so that everyone can read it: run chmod 600 %[1]s", path, info.Mode().Perm())
	}
	key, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return nil, run.Errorf(run.Invalid, "key file: %w", err)
	}
	key = bytes.TrimSuffix(bytes.TrimSuffix(key, []byte("\n")), []byte("\r"))
	if len(key) < minKey || len(key) > maxKey {
		return nil, run.Errorf(run.Invalid, "key file %s: a key has %d to %d bytes: make one with `openssl rand -hex 32`", path, minKey, maxKey)
	}
	return key, nil
}
