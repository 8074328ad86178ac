package audit

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Record is one line of the log: a run, a request that was not run, or a note of
// the log about itself.
type Record struct {
	// Seq counts the lines of a log from 1, over all of its files.
	Seq uint64 `json:"seq"`
	// Prev is the hash of the line before, zeros for the first.
	Prev string `json:"prev"`
	// Keyed says that the hashes are made with a key.
	Keyed bool `json:"keyed,omitempty"`
	// Note is there for what the log says of itself. Such a line is no run.
	Note *Note `json:"note,omitempty"`

	// Time is when the answer was ready.
	Time     time.Time        `json:"time"`
	ID       string           `json:"id,omitempty"`
	Frontend observe.Frontend `json:"frontend,omitempty"`
	// Caller is the name of the token, never the token.
	Caller string       `json:"caller,omitempty"`
	Kind   observe.Kind `json:"kind,omitempty"`
	// CodeHash is the SHA-256 of the code, in hexadecimal; the code itself is not
	// in the log.
	CodeHash string      `json:"code_sha256,omitempty"`
	Tier     policy.Tier `json:"tier,omitempty"`
	// Walls says what stood around the guest, as its Result does.
	Walls map[policy.Wall]string `json:"walls,omitempty"`

	Outcome   run.Outcome   `json:"outcome,omitempty"`
	ErrorType run.ErrorType `json:"error_type,omitempty"`
	// ErrorClass says why a request was not run. Then there is no outcome.
	ErrorClass run.Class `json:"error_class,omitempty"`
	// Count is there in a line that stands for many requests that were not run. It has
	// no id and no hash of code.
	Count uint64     `json:"count,omitempty"`
	Usage *run.Usage `json:"usage,omitempty"`
	// Violations are the first of them; Omitted counts the rest.
	Violations []Violation `json:"violations,omitempty"`
	Omitted    int         `json:"violations_omitted,omitempty"`
	// Queued is how long the request waited, Ran how long the run took.
	Queued policy.Duration `json:"queued,omitempty"`
	Ran    policy.Duration `json:"ran,omitempty"`

	Hash string `json:"hash"`
}

// Violation is what the log keeps of a run.Violation.
type Violation struct {
	Wall   policy.Wall `json:"wall"`
	Op     string      `json:"op"`
	Detail string      `json:"detail,omitempty"`
	// Claimed is true for what only the guest says.
	Claimed bool `json:"claimed,omitempty"`
	Line    int  `json:"line,omitempty"`
	Count   int  `json:"count"`
}

// Event is what a Note is about.
type Event string

// The events.
const (
	Begin   Event = "begin"   // the first line of a file
	Opened  Event = "opened"  // a writer goes on with a log
	Closed  Event = "closed"  // it ended in order
	Torn    Event = "torn"    // a crash left a piece behind the last whole line
	Lost    Event = "lost"    // lines that were on disk are not there any more
	Dropped Event = "dropped" // runs that could not be recorded
)

// Note is what the log says of itself.
type Note struct {
	Event Event `json:"event"`
	// First is the seq of the oldest line that is kept, for begin.
	First uint64 `json:"first,omitempty"`
	// File, Bytes and SHA256 say where the torn piece is now, and what it is.
	File   string `json:"file,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// LastSeq and LastHash are the head that was on disk, for lost.
	LastSeq  uint64 `json:"last_seq,omitempty"`
	LastHash string `json:"last_hash,omitempty"`
	// Count is how many were dropped.
	Count uint64 `json:"count,omitempty"`
}

// body is a Record without its place in the chain.
type body struct {
	Record
	Seq   *struct{} `json:"seq,omitempty"`
	Prev  *struct{} `json:"prev,omitempty"`
	Keyed *struct{} `json:"keyed,omitempty"`
	Hash  *struct{} `json:"hash,omitempty"`
}

// encode gives the fields of r, bounded and printable, as JSON. Its place in the
// chain is for the writer to say.
func encode(r Record) ([]byte, error) {
	r = bounded(r)
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	r.Time = r.Time.UTC()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body{Record: r}); err != nil {
		return nil, run.Errorf(run.Internal, "audit: a record cannot be written: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
