package audit

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/run"
)

// Check configures Verify.
type Check struct {
	// Key is required for a log that was written with one.
	Key []byte
	// Head is a hash that the log must contain, noted earlier. Without it, the log may
	// have been restored to an older state.
	Head string
	// Found receives every finding at once. The Report has the first ones.
	Found func(Finding)
}

// Fault is the kind of a finding.
type Fault string

// The faults.
const (
	Changed   Fault = "changed"   // its bytes do not match its hash
	Malformed Fault = "malformed" // it is not a line of a log
	Missing   Fault = "missing"   // lines that should be here are not
	Moved     Fault = "moved"     // it was elsewhere, or is a copy
	Unlinked  Fault = "unlinked"  // it does not follow the line before it
	Unkeyed   Fault = "unkeyed"   // it was written without the key
	Cut       Fault = "cut"       // the last line is incomplete, or the end is missing
	Misnamed  Fault = "misnamed"  // a rotated file begins with another line than its name says
	Recorded  Fault = "recorded"  // the log itself notes that lines were lost, or runs not recorded
)

// Finding is one fault and its position.
type Finding struct {
	Fault Fault  `json:"fault"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Seq   uint64 `json:"seq,omitempty"`
	Text  string `json:"text"`
}

// Report is the result of Verify.
type Report struct {
	Files int    `json:"files"`
	Lines uint64 `json:"lines"`
	First uint64 `json:"first"` // seq of the first line
	Head  Head   `json:"head"`  // the last good line
	Keyed bool   `json:"keyed"`
	// Found counts all findings, Findings has the first hundred.
	Found    int       `json:"found"`
	Findings []Finding `json:"findings"`
	// HeadFile means that the end was compared with the head beside the log, HeadGiven
	// with one from the caller.
	HeadFile  bool `json:"head_file"`
	HeadGiven bool `json:"head_given"`
	// Writing means that there is a writer, so that the last line may be incomplete.
	Writing bool `json:"writing"`
	// Torn counts repairs after crashes, Restarts the writers that did not shut down
	// cleanly. Neither is a finding.
	Torn     int `json:"torn"`
	Restarts int `json:"restarts"`
}

// Intact reports that there are no findings.
func (r Report) Intact() bool { return r.Found == 0 }

const maxFindings = 100

// Verify reads all files of a log, with memory for one line, and finds what was changed,
// moved, inserted or removed. An error means that it could not check.
func Verify(path string, check Check) (Report, error) {
	if check.Head != "" && !isHash(check.Head) {
		return Report{}, run.Errorf(run.Invalid, "head %q is not a hash: write %d hexadecimal digits, in lower case", check.Head, hashSize)
	}
	v := verifier{check: check, seal: newSealer(check.Key)}
	v.report.Keyed = v.seal.keyed
	v.report.Findings = []Finding{}
	v.report.Writing = isBeingWritten(path)
	// Before the files: the head must not be newer than what we read.
	head, known, err := readHead(path)
	if errors.Is(err, errHead) {
		v.name = filepath.Base(path) + headSuffix
		v.found(Malformed, 0, "%v", errHead)
	} else if err != nil {
		return v.report, err
	}
	v.beside = head
	v.report.HeadFile, v.report.HeadGiven = known, check.Head != ""
	parts, err := openLog(path)
	if err != nil {
		return v.report, err
	}
	defer closeAll(parts)
	for i, p := range parts {
		if err := v.file(p, p.name, p.first, i == len(parts)-1); err != nil {
			return v.report, err
		}
	}
	v.end()
	return v.report, nil
}

// verifier follows a chain.
type verifier struct {
	check  Check
	seal   *sealer
	report Report
	beside Head // from the head file

	name     string // of the file, and the number of the line in it
	line     int
	started  bool
	next     uint64    // the expected seq
	prev     [2]string // valid values of its prev; empty if unknown
	oldest   uint64    // the oldest line that must exist
	closed   bool      // no writer is active, according to the notes
	sawHead  bool
	sawGiven bool
}

func (v *verifier) found(fault Fault, seq uint64, format string, args ...any) {
	f := Finding{fault, v.name, v.line, seq, fmt.Sprintf(format, args...)}
	v.report.Found++
	if len(v.report.Findings) < maxFindings {
		v.report.Findings = append(v.report.Findings, f)
	}
	if v.check.Found != nil {
		v.check.Found(f)
	}
}

// file checks one file, whose name says its first line.
func (v *verifier) file(r io.Reader, name string, promised uint64, newest bool) error {
	v.report.Files++
	v.name, v.line = name, 0
	lines := newLineReader(r)
	for {
		line, whole, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.line = lines.number
		if !whole {
			if !newest || !v.report.Writing {
				v.found(Cut, v.next, "the last line is incomplete: %d bytes; a crash does this, and the next writer repairs it", len(line))
			}
			return nil
		}
		if err := v.one(line, promised); err != nil {
			return err
		}
	}
}

// one checks a line. It continues from what the line says about itself, so that one
// change is one finding.
func (v *verifier) one(line []byte, promised uint64) error {
	v.report.Lines++
	l, ok := parseLink(line)
	if !ok {
		v.found(Malformed, v.next, "this is not a line of an audit log")
		v.next++
		v.prev = [2]string{}
		return nil
	}
	if l.keyed && !v.seal.keyed {
		return run.Errorf(run.Invalid, "%s:%d was written with a key: give it with --audit-key", v.name, v.line)
	}
	if !v.started {
		v.started, v.next, v.report.First = true, l.seq, l.seq
		v.prev = [2]string{l.prev}
		if l.seq == 1 {
			v.prev[0] = noPrev
		}
	}
	if v.line == 1 && promised != 0 && l.seq != promised {
		v.found(Misnamed, l.seq, "the file begins with line %d of the log, but its name says %d", l.seq, promised)
	}
	sum := v.seal.hash(l.signed)
	if v.seal.keyed && !l.keyed || sum != l.hash {
		v.broken(l, sum)
		return nil
	}
	v.follow(l)
	v.next = l.seq + 1
	v.prev = [2]string{l.hash}
	v.report.Head = Head{l.seq, l.hash}
	v.sawGiven = v.sawGiven || l.hash == v.check.Head
	v.sawHead = v.sawHead || v.report.Head == v.beside
	if l.note {
		v.note(line, l)
	}
	return nil
}

// broken handles a line with a wrong hash. The hash itself may have been changed.
func (v *verifier) broken(l link, sum string) {
	if v.seal.keyed && !l.keyed {
		v.found(Unkeyed, l.seq, "this line was written without the key")
	} else {
		v.found(Changed, v.next, "this line was changed: its hash does not match")
	}
	v.next++
	v.prev = [2]string{l.hash, sum}
}

func (v *verifier) follow(l link) {
	switch {
	case l.seq > v.next:
		v.found(Missing, v.next, "lines %d to %d of the log are missing here", v.next, l.seq-1)
	case l.seq < v.next:
		v.found(Moved, l.seq, "line %d of the log is where line %d should be: it was moved or copied", l.seq, v.next)
	case v.prev[0] != "" && l.prev != v.prev[0] && l.prev != v.prev[1]:
		v.found(Unlinked, l.seq, "this line does not follow the one before it: one of them was replaced")
	}
}

func (v *verifier) note(line []byte, l link) {
	r, err := parseRecord(line)
	if err != nil || r.Note == nil {
		v.found(Malformed, l.seq, "this note cannot be read")
		return
	}
	switch n := r.Note; n.Event {
	case Begin:
		v.oldest = n.First
	case Opened:
		if !v.closed {
			v.report.Restarts++
		}
		v.closed = false
	case Closed:
		v.closed = true
	case Torn:
		v.report.Torn++
	case Lost:
		v.found(Recorded, l.seq, "when this was written, lines up to %d of the log had been on disk and were missing", n.LastSeq)
	case Dropped:
		v.found(Recorded, l.seq, "%d runs before this could not be recorded", n.Count)
	}
}

// end compares both ends of the chain with what they should be.
func (v *verifier) end() {
	r := &v.report
	if r.HeadFile && !v.sawHead && v.beside.Seq >= r.First {
		v.found(Cut, v.beside.Seq, "line %d was on disk according to the head file, and is not in the log: lines were cut off its end, or replaced", v.beside.Seq)
	}
	if r.HeadGiven && !v.sawGiven {
		v.found(Cut, 0, "the given head is not in the log: lines were cut off its end, or it is older than the oldest line that is kept")
	}
	if v.started && r.First > max(v.oldest, 1) {
		v.line = 0 // the fault is in no line of this file
		v.found(Missing, max(v.oldest, 1), "lines %d to %d of the log should be kept, and are missing", max(v.oldest, 1), r.First-1)
	}
}
