package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/run"
)

// maxWrite is roughly how much is written before an fsync.
const maxWrite = 1 << 20

// file is what a chain writes to.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// chain is the end of a log on disk. Only one goroutine uses it.
type chain struct {
	path    string
	maxSize int64
	keep    int
	seal    *sealer
	report  func(error) // for errors that do not stop the writer
	wrap    func(*os.File) file

	file  file // nil if the next file has to be created
	size  int64
	bare  int64  // the size of its begin note: it has no records up to there
	first uint64 // the seq of its first line
	// oldest is the oldest line that is kept. It comes from the log and not from the
	// directory, so that a removed file is noticed.
	oldest uint64
	dirty  bool // the file may have bytes after size, from a failed write
	tail   Head // the last line on disk
	head   *os.File
	buf    []byte
}

// append writes bodies to the end of the log, and returns how many are on disk. After an
// error the log ends after the last of them.
func (c *chain) append(bodies [][]byte) (done int, err error) {
	for done < len(bodies) {
		if err := c.ready(len(bodies[done])); err != nil {
			return done, err
		}
		n, err := c.appendSome(bodies[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// ready makes sure that there is a file with room for a body of that size.
func (c *chain) ready(size int) error {
	if c.file != nil && c.moved() {
		c.report(run.Errorf(run.Internal, "audit: %s was moved or removed while it was open: starting a new file; put the old one back for verify", c.path))
		c.file.Close()
		c.file = nil
	}
	if c.file != nil && c.size > c.bare && c.size+int64(size+overhead) > c.maxSize {
		if err := c.rotate(); err != nil {
			return err
		}
	}
	if c.file != nil && c.size > 0 {
		return nil
	}
	return c.begin()
}

// moved reports whether the file's name leads elsewhere now. Nobody would find what is
// written then.
func (c *chain) moved() bool {
	ours, err := c.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(c.path)
	return err != nil || !os.SameFile(ours, named)
}

// appendSome writes what fits into the file and into one write, and syncs it.
func (c *chain) appendSome(bodies [][]byte) (int, error) {
	if err := c.clean(); err != nil {
		return 0, err
	}
	c.buf = c.buf[:0]
	tail, n := c.tail, 0
	for _, body := range bodies {
		if n > 0 && (len(c.buf) > maxWrite || c.size+int64(len(c.buf)+len(body)+overhead) > c.maxSize) {
			break
		}
		tail.Seq++
		c.buf, tail.Hash = c.seal.appendLine(c.buf, tail.Seq, tail.Hash, body)
		n++
	}
	c.dirty = true
	if _, err := c.file.Write(c.buf); err != nil {
		return 0, c.failed(err)
	}
	// After a failed fsync the kernel may mark pages clean that were never written,
	// and a second fsync would succeed. So the bytes are cut off and written again.
	if err := c.file.Sync(); err != nil {
		return 0, c.failed(err)
	}
	c.dirty = false
	c.size += int64(len(c.buf))
	c.tail = tail
	c.noteHead()
	return n, nil
}

// clean cuts off what a failed write has left, so that no partial line is between two
// whole ones.
func (c *chain) clean() error {
	if !c.dirty {
		return nil
	}
	if err := c.file.Truncate(c.size); err != nil {
		return fmt.Errorf("audit: cannot truncate %s after its last whole line: %w", c.path, err)
	}
	c.dirty = false
	return nil
}

func (c *chain) failed(err error) error {
	if cut := c.clean(); cut != nil {
		c.report(cut) // retried before the next write
	}
	return fmt.Errorf("audit: cannot write %s: %w", c.path, err)
}

// rotate gives the file its final name.
func (c *chain) rotate() error {
	to := rotatedName(c.path, c.first)
	if _, err := os.Lstat(to); err == nil {
		return run.Errorf(run.Internal, "audit: %s already exists and would be overwritten: move it away", to)
	}
	if err := c.clean(); err != nil {
		return err
	}
	// Windows cannot rename an open file.
	c.file.Close()
	c.file = nil
	if err := os.Rename(c.path, to); err != nil {
		if f, again := openFile(c.path, os.O_RDWR|os.O_APPEND); again == nil {
			c.file = c.wrap(f)
		}
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// begin creates the next file. Its first line says which line is the oldest that is kept:
// without that, a removed file would look like one that was rotated out.
func (c *chain) begin() error {
	if c.file == nil {
		f, err := openFile(c.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return fmt.Errorf("audit: cannot create a new file: %w", err)
		}
		c.file, c.size, c.bare, c.dirty = c.wrap(f), 0, 0, false
		if err := syncDirectory(filepath.Dir(c.path)); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	old, err := listRotated(c.path)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	gone := old[:max(0, len(old)-c.keep)]
	old = old[len(gone):]
	c.first = c.tail.Seq + 1
	oldest := c.oldest
	switch {
	case oldest == 0 && c.first == 1:
		oldest = 1
	case len(gone) > 0, oldest == 0:
		oldest = append(old, rotated{first: c.first})[0].first
	}
	if err := c.note(Note{Event: Begin, First: oldest}); err != nil {
		return err
	}
	c.bare, c.oldest = c.size, oldest
	for _, r := range gone {
		if err := os.Remove(r.path); err != nil {
			c.report(fmt.Errorf("audit: cannot remove an old file: %w", err))
		}
	}
	return nil
}

// note writes notes of the log about itself into the open file.
func (c *chain) note(notes ...Note) error {
	var bodies [][]byte
	for _, n := range notes {
		body, err := encode(Record{Note: &n})
		if err != nil {
			return err
		}
		bodies = append(bodies, body)
	}
	_, err := c.appendSome(bodies)
	return err
}

// noteHead records where the log ends. It is not synced: an older head is valid as well,
// but detects less.
func (c *chain) noteHead() {
	if _, err := c.head.WriteAt(c.tail.line(), 0); err != nil {
		c.report(fmt.Errorf("audit: cannot write the head: %w", err))
	}
}

// abandon closes what is open. It syncs the head, which is cheap at the end.
func (c *chain) abandon() error {
	var problems []error
	if c.file != nil {
		problems = append(problems, c.file.Close())
	}
	if c.head != nil {
		problems = append(problems, c.head.Sync(), c.head.Close())
	}
	return errors.Join(problems...)
}
