package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/run"
)

// scanned is the content of one file.
type scanned struct {
	first  uint64 // the seq of its first good line
	oldest uint64 // the oldest line that is kept, according to the file
	last   Head   // its last good line
	end    int64  // the end of that line
	good   int    // lines with a correct hash
	whole  int    // lines with a newline
	size   int64
	opens  bool // it begins like a log
}

// scan finds the last line of a file whose own hash is correct.
func scan(f io.Reader, seal *sealer) (scanned, error) {
	var s scanned
	lines := newLineReader(f)
	for {
		line, whole, err := lines.next()
		if errors.Is(err, io.EOF) {
			s.size = lines.end
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if lines.number == 1 {
			start := line[:min(len(line), len(seqMark))]
			// A file system may have extended the file without writing the data.
			s.opens = !lines.long && (bytes.HasPrefix([]byte(seqMark), start) || len(bytes.Trim(line, "\x00")) == 0)
		}
		if !whole {
			continue
		}
		s.whole++
		if l, ok := parseLink(line); ok && seal.holds(l) {
			if s.good == 0 {
				s.first = l.seq
				s.oldest = oldestIn(line, l)
			}
			s.good++
			s.last, s.end = Head{l.seq, l.hash}, lines.end
		}
	}
}

// oldestIn reads the begin note of a file.
func oldestIn(line []byte, l link) uint64 {
	if !l.note {
		return 0
	}
	r, err := parseRecord(line)
	if err != nil || r.Note == nil {
		return 0 // Verify reports it
	}
	return r.Note.First
}

// resume finds the end of an existing log and repairs what a crash has left. It returns
// notes about that.
func (c *chain) resume() ([]Note, error) {
	c.tail = Head{0, noPrev}
	f, err := openFile(c.path, os.O_RDWR|os.O_APPEND)
	var here scanned
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		c.file = c.wrap(f)
		if here, err = scan(f, c.seal); err != nil {
			return nil, err
		}
		if here.size > 0 && here.good == 0 && (here.whole > 0 || !here.opens) {
			return nil, c.foreign(c.path)
		}
	}
	c.tail, c.size, c.first, c.oldest = here.last, here.end, here.first, here.oldest
	if here.good == 0 {
		if err := c.tailOfRotated(); err != nil {
			return nil, err
		}
	}
	var notes []Note
	name := rotatedName(c.path, c.tail.Seq+1) + tornSuffix
	if _, err := os.Lstat(name); err == nil || here.size > here.end {
		torn, err := c.cutTorn(f, name, here)
		if err != nil {
			return nil, err
		}
		notes = append(notes, torn)
	}
	if c.tail.Seq > 0 {
		notes = append(notes, Note{Event: Opened})
	}
	last, known, err := readHead(c.path)
	if err != nil {
		c.report(err)
	}
	if known && (last.Seq > c.tail.Seq || last.Seq == c.tail.Seq && last != c.tail) {
		notes = append(notes, Note{Event: Lost, LastSeq: last.Seq, LastHash: last.Hash})
	}
	return notes, nil
}

// tailOfRotated finds the end of a log whose newest file has no line yet.
func (c *chain) tailOfRotated() error {
	c.tail = Head{0, noPrev}
	old, err := listRotated(c.path)
	if err != nil || len(old) == 0 {
		return err
	}
	newest := old[len(old)-1].path
	f, err := openFile(newest, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	there, err := scan(f, c.seal)
	if err != nil {
		return err
	}
	if there.good == 0 {
		return c.foreign(newest)
	}
	c.tail, c.oldest = there.last, there.oldest
	return nil
}

func (c *chain) foreign(path string) error {
	if c.seal.keyed {
		return run.Errorf(run.Invalid, "%s has no line of an audit log with this key: use the key that it was started with, or move it away to start a new log", path)
	}
	return run.Errorf(run.Invalid, "%s has no line of an audit log without a key: move it away to start a new log, or give its key", path)
}

// cutTorn moves what follows the last good line into a file of its own, and cuts it only
// when that file is on disk. After a crash before the note is on disk this is repeated:
// the file exists already, and its content is kept.
func (c *chain) cutTorn(f *os.File, name string, s scanned) (Note, error) {
	to, err := openFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return Note{}, err
	}
	defer to.Close()
	if s.size > s.end {
		if _, err := io.Copy(to, io.NewSectionReader(f, s.end, s.size-s.end)); err != nil {
			return Note{}, fmt.Errorf("%s: %w", name, err)
		}
		if err := errors.Join(to.Sync(), syncDirectory(filepath.Dir(name))); err != nil {
			return Note{}, err
		}
		if err := errors.Join(f.Truncate(s.end), f.Sync()); err != nil {
			return Note{}, err
		}
	}
	sum := sha256.New()
	size, err := io.Copy(sum, io.NewSectionReader(to, 0, math.MaxInt64))
	if err != nil {
		return Note{}, fmt.Errorf("%s: %w", name, err)
	}
	return Note{Event: Torn, File: filepath.Base(name), Bytes: size, SHA256: fmt.Sprintf("%x", sum.Sum(nil))}, nil
}
