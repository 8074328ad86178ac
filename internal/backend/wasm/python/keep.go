package python

import (
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/cordon-sandbox/cordon/internal/newfile"
)

// keptFor is how long an image, and with it its hash seed, is kept.
const keptFor = 24 * time.Hour

// keptPath returns the path of the kept image, beside the compiled code. The name depends on
// the build, the imports, the rules and the mounts.
func (p *Pool) keptPath() (string, error) {
	directory, err := p.interpreter.options.Engine.Directory()
	if err != nil {
		return "", err
	}
	what, err := json.Marshal([]any{p.interpreter.build(), p.preload, p.rules, p.interpreter.layout.Mounts()})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(what)
	return filepath.Join(directory, "python-"+hex.EncodeToString(sum[:16])+".image"), nil
}

var errOld = errors.New("too old")

// kept returns a memory that an earlier process has kept.
func (p *Pool) kept() (content []byte, err error) {
	path, err := p.keptPath()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || time.Since(info.ModTime()) > keptFor {
		return nil, errors.Join(errOld, err)
	}
	file, err := openSnapshot(f, p.interpreter)
	if err != nil {
		return nil, err
	}
	if file.Restricted != (p.rules != nil) {
		return nil, errDamaged
	}
	return file.memory(0, bootMemory)
}

// keep writes a memory for later processes. If it fails, they only start more slowly.
func (p *Pool) keep(content []byte) {
	path, err := p.keptPath()
	if err != nil {
		return
	}
	f, err := newfile.Create(path, 0o600)
	if err != nil {
		return
	}
	defer f.Discard()
	if p.interpreter.writeSnapshot(f, content, uint64(len(content)), p.rules != nil, flate.NoCompression) == nil {
		_ = f.Commit()
	}
}
