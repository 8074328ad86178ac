package audit

import (
	"time"

	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Record is one line of the log: a run, a refused request, or a note of the log about
// itself.
type Record struct {
	// Seq counts the lines of a log from 1, over all of its files.
	Seq uint64 `json:"seq"`
	// Prev is the hash of the previous line, zeros for the first.
	Prev string `json:"prev"`
	// Keyed means that the hashes are made with a key.
	Keyed bool `json:"keyed,omitempty"`
	// Note is set in lines of the log about itself, which are not runs.
	Note *Note `json:"note,omitempty"`

	// Version is that of cordon's documents.
	Version int `json:"v"`
	// Time is when the answer was ready.
	Time     time.Time        `json:"time"`
	ID       string           `json:"id,omitempty"`
	Frontend observe.Frontend `json:"frontend,omitempty"`
	// Caller is the name of the token, never the token.
	Caller string       `json:"caller,omitempty"`
	Kind   observe.Kind `json:"kind,omitempty"`
	// CodeHash is the SHA-256 of the code, in hexadecimal; the code itself is not in the
	// log.
	CodeHash string      `json:"code_sha256,omitempty"`
	Tier     policy.Tier `json:"tier,omitempty"`
	// Walls says which walls stood, as in the Result.
	Walls map[policy.Wall]policy.WallStatus `json:"walls,omitempty"`

	Outcome   run.Outcome   `json:"outcome,omitempty"`
	ErrorType run.ErrorType `json:"error_type,omitempty"`
	// ErrorClass says why a request did not run. Then there is no outcome.
	ErrorClass run.Class `json:"error_class,omitempty"`
	// Count is set in a line that counts many refused requests. It has no id and no hash
	// of code.
	Count uint64     `json:"count,omitempty"`
	Usage *run.Usage `json:"usage,omitempty"`
	// Violations are the first ones; Omitted counts the rest.
	Violations []Violation `json:"violations,omitempty"`
	Omitted    int         `json:"violations_omitted,omitempty"`
	// Queued is how long the request waited, Ran how long the run took.
	Queued plainjson.Milliseconds `json:"queued_ms,omitempty"`
	Ran    plainjson.Milliseconds `json:"ran_ms,omitempty"`

	Hash string `json:"hash"`
}

// Violation is what the log keeps of a run.Violation.
type Violation struct {
	Wall   policy.Wall `json:"wall"`
	Op     string      `json:"op"`
	Detail string      `json:"detail,omitempty"`
	// Claimed means that only the guest says so.
	Claimed bool `json:"claimed,omitempty"`
	Line    int  `json:"line,omitempty"`
	// Module is what the guest reports.
	Module string `json:"module,omitempty"`
	Count  int    `json:"count"`
}

// Event is the subject of a Note.
type Event string

// The events.
const (
	Begin   Event = "begin"   // the first line of a file
	Opened  Event = "opened"  // a writer continued the log
	Closed  Event = "closed"  // the writer shut down cleanly
	Torn    Event = "torn"    // a crash left an incomplete line
	Lost    Event = "lost"    // lines that were on disk are missing
	Dropped Event = "dropped" // runs that could not be recorded
)

// Note is a line of the log about itself.
type Note struct {
	Event Event `json:"event"`
	// First is the seq of the oldest line that is kept, for begin.
	First uint64 `json:"first,omitempty"`
	// File, Bytes and SHA256 say where the incomplete line is now, and what it is.
	File   string `json:"file,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// LastSeq and LastHash are the head that was on disk, for lost.
	LastSeq  uint64 `json:"last_seq,omitempty"`
	LastHash string `json:"last_hash,omitempty"`
	// Count is how many were dropped.
	Count uint64 `json:"count,omitempty"`
}

// body is a Record without its link.
type body struct {
	Record
	Seq   *struct{} `json:"seq,omitempty"`
	Prev  *struct{} `json:"prev,omitempty"`
	Keyed *struct{} `json:"keyed,omitempty"`
	Hash  *struct{} `json:"hash,omitempty"`
}

// encode returns the fields of r, bounded and printable, as JSON. The writer adds the
// link.
func encode(r Record) ([]byte, error) {
	r = bounded(r)
	r.Version = run.Version
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	r.Time = r.Time.UTC()
	text, err := plainjson.Marshal(body{Record: r})
	if err != nil {
		return nil, run.Errorf(run.Internal, "audit: cannot encode a record: %w", err)
	}
	return text, nil
}
