package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// followPause is how often a follower checks for new lines.
const followPause = 100 * time.Millisecond

// follower reads a file as it grows, and continues with the next one.
type follower struct {
	path  string
	file  *os.File // the first is closed by its opener, later ones by us
	name  string
	at    int64
	yield func(Entry, error) bool
}

func (f *follower) run(ctx context.Context) {
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	opened := false
	defer func() {
		if opened {
			f.file.Close()
		}
	}()
	for {
		// Checked before reading: what is written before the file is renamed is then read
		// before we continue with the next file.
		next, err := f.successor()
		if err != nil {
			f.yield(Entry{}, err)
			return
		}
		if !f.drain() {
			if next != nil {
				next.Close()
			}
			return
		}
		if next != nil {
			if opened {
				f.file.Close()
			}
			f.file, f.name, f.at, opened = next, filepath.Base(next.Name()), 0, true
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// drain yields all whole lines after the current position.
func (f *follower) drain() bool {
	lines := newLineReader(io.NewSectionReader(f.file, f.at, 1<<62))
	start := f.at
	for {
		line, whole, err := lines.next()
		switch {
		case errors.Is(err, io.EOF), err == nil && !whole:
			return true
		case err != nil:
			f.yield(Entry{}, fmt.Errorf("%s: %w", f.name, err))
			return false
		}
		f.at = start + lines.end
		if !f.yield(entryOf(line, f.name, 0)) {
			return false
		}
	}
}

// successor opens the next file, if the current one is no longer the newest.
func (f *follower) successor() (*os.File, error) {
	ours, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	newest, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // between two files
	}
	if err != nil {
		return nil, err
	}
	if info, err := newest.Stat(); err == nil && os.SameFile(info, ours) {
		newest.Close()
		return nil, nil
	}
	// There may have been more than one rotation.
	old, err := listRotated(f.path)
	if err != nil {
		newest.Close()
		return nil, err
	}
	for i := len(old) - 1; i >= 0; i-- {
		info, err := os.Lstat(old[i].path)
		if err != nil || !os.SameFile(info, ours) {
			continue
		}
		if i == len(old)-1 {
			return newest, nil
		}
		newest.Close()
		return os.Open(old[i+1].path)
	}
	return newest, nil
}
