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

// maxWrite is about how much is written before an fsync.
const maxWrite = 1 << 20

// file is what a chain writes to.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// chain is the end of a log on disk. One goroutine has it.
type chain struct {
	path    string
	maxSize int64
	keep    int
	seal    *sealer
	report  func(error) // of what is wrong and does not stop us
	wrap    func(*os.File) file

	file  file // nil when the next one has to be begun
	size  int64
	bare  int64  // how much of it is there without any record: its begin note
	first uint64 // the seq of its first line
	// oldest is the oldest line that is kept. It is what was written down, and not
	// what is in the directory: a file that somebody took away is missed.
	oldest uint64
	dirty  bool // it may have bytes behind size, of a write that failed
	tail   Head // the last line that is on disk
	head   *os.File
	buf    []byte
}

// append puts bodies at the end of the log, and gives how many are on disk. After
// an error the log is as it was before the first that is not.
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

// ready sees to it that there is a file with room for a body of that size.
func (c *chain) ready(size int) error {
	if c.file != nil && c.moved() {
		c.report(run.Errorf(run.Internal, "audit: %s was moved or removed while it was written: a new file is begun; put the old one back for verify", c.path))
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

// moved says whether the file's name leads elsewhere now. What would be written
// then would be found by nobody.
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
	// After a failed fsync the kernel may take pages for clean that never were
	// written: a second fsync would lie. So the bytes go away and are written anew.
	if err := c.file.Sync(); err != nil {
		return 0, c.failed(err)
	}
	c.dirty = false
	c.size += int64(len(c.buf))
	c.tail = tail
	c.noteHead()
	return n, nil
}

// clean takes away what a write that failed has left, so that no half line stands
// between two whole ones.
func (c *chain) clean() error {
	if !c.dirty {
		return nil
	}
	if err := c.file.Truncate(c.size); err != nil {
		return fmt.Errorf("audit: %s cannot be cut back to its last whole line: %w", c.path, err)
	}
	c.dirty = false
	return nil
}

func (c *chain) failed(err error) error {
	if cut := c.clean(); cut != nil {
		c.report(cut) // tried again before the next write
	}
	return fmt.Errorf("audit: %s cannot be written: %w", c.path, err)
}

// rotate gives the file its name for good.
func (c *chain) rotate() error {
	to := rotatedName(c.path, c.first)
	if _, err := os.Lstat(to); err == nil {
		return run.Errorf(run.Internal, "audit: %s is there already, and would be overwritten: move it away", to)
	}
	if err := c.clean(); err != nil {
		return err
	}
	// Windows renames no file that is open.
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

// begin makes the next file. Its first line says which is the oldest line that is
// kept: without that, a file that somebody took away would look like one that was
// rotated out.
func (c *chain) begin() error {
	if c.file == nil {
		f, err := openFile(c.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return fmt.Errorf("audit: a new file cannot be begun: %w", err)
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
			c.report(fmt.Errorf("audit: an old file stays: %w", err))
		}
	}
	return nil
}

// note writes what the log says of itself into the file that is open.
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

// noteHead writes down where the log ends. It is not synced: an older head is
// true as well, it only shows less.
func (c *chain) noteHead() {
	if _, err := c.head.WriteAt(c.tail.line(), 0); err != nil {
		c.report(fmt.Errorf("audit: the head cannot be written: %w", err))
	}
}

// abandon closes what is open. The head is synced: at the end it can be had for
// little.
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
