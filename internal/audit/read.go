package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// Entry is a record and its position.
type Entry struct {
	Record
	JSON []byte // the line without its newline
	File string
	Line int // 0 if it was not counted
}

// Filter selects records; the zero value selects all.
type Filter struct {
	Since time.Time // not older than this
	ID    string
	Notes bool // include notes of the log about itself
}

func (f Filter) wants(r Record) bool {
	return (f.Notes || r.Note == nil) && (f.Since.IsZero() || !r.Time.Before(f.Since)) && (f.ID == "" || r.ID == f.ID)
}

// Read returns the records of a log, the oldest first. It does not check hashes; Verify
// does. A line that cannot be read is an error, after which the next line follows.
func Read(path string, filter Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		parts, err := openLog(path)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer closeAll(parts)
		for _, p := range parts {
			if !readPart(p, p.name, filter, yield) {
				return
			}
		}
	}
}

func readPart(r io.Reader, name string, filter Filter, yield func(Entry, error) bool) bool {
	lines := newLineReader(r)
	for {
		line, whole, err := lines.next()
		switch {
		case errors.Is(err, io.EOF), err == nil && !whole:
			return true
		case err != nil:
			return yield(Entry{}, fmt.Errorf("%s: %w", name, err))
		}
		entry, err := entryOf(line, name, lines.number)
		if err == nil && !filter.wants(entry.Record) {
			continue
		}
		if !yield(entry, err) {
			return false
		}
	}
}

func entryOf(line []byte, name string, number int) (Entry, error) {
	r, err := parseRecord(line)
	if err != nil {
		return Entry{}, run.Errorf(run.Invalid, "%s:%d: %w", name, number, err)
	}
	return Entry{Record: r, JSON: slices.Clone(line), File: name, Line: number}, nil
}

// maxLast bounds what Last keeps in memory.
const maxLast = 10000

// Last returns the last n records of a log, including notes, and then, with follow, new
// records until ctx ends.
func Last(ctx context.Context, path string, n int, follow bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if n < 0 || n > maxLast {
			yield(Entry{}, run.Errorf(run.Invalid, "%d lines: write a number from 0 to %d", n, maxLast))
			return
		}
		parts, err := openLog(path)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer closeAll(parts)
		newest := parts[len(parts)-1]
		lines, end, err := lastLines(parts, n)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, l := range lines {
			if !yield(entryOf(l.text, l.file, 0)) {
				return
			}
		}
		if follow {
			f := follower{path: path, file: newest.File, name: newest.name, at: end, yield: yield}
			f.run(ctx)
		}
	}
}

type lastLine struct {
	text []byte
	file string
}

// lastLines returns the last n lines, and the end of the newest file.
func lastLines(parts []part, n int) (lines []lastLine, end int64, err error) {
	for i := len(parts) - 1; i >= 0 && (len(lines) < n || i == len(parts)-1); i-- {
		texts, size, err := linesAtEnd(parts[i].File, n-len(lines))
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", parts[i].Name(), err)
		}
		if i == len(parts)-1 {
			end = size
		}
		var more []lastLine
		for _, text := range texts {
			more = append(more, lastLine{text, parts[i].name})
		}
		lines = append(more, lines...)
	}
	return lines, end, nil
}

// linesAtEnd reads a file backwards until it has n whole lines, and returns the end of
// the last one.
func linesAtEnd(f *os.File, n int) (lines [][]byte, end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size := info.Size()
	for window := int64(maxLine); ; window *= 2 {
		window = min(window, size)
		b := make([]byte, window)
		if read, err := f.ReadAt(b, size-window); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		} else {
			b = b[:read]
		}
		b = b[:bytes.LastIndexByte(b, '\n')+1]
		end = size - window + int64(len(b))
		// One more newline than lines, since the first piece may be a partial line.
		if count := bytes.Count(b, []byte("\n")); count <= n && window < size && window < int64(n+1)*maxLine {
			continue
		}
		lines = bytes.Split(b, []byte("\n"))
		lines = lines[:len(lines)-1]
		return lines[max(0, len(lines)-n):], end, nil
	}
}
