package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// An answer goes into the context of a model, and is held in memory more than once on its
// way. What is longer is cut, and says so with its size.
const (
	mostValue  = 256 << 10 // bytes of `result` as JSON, and of all variables together
	mostStream = 256 << 10 // bytes of stdout, and of stderr
	keptStart  = 4 << 10   // bytes of a value that was cut
)

// cutValue stands for a value that is too long, as {"$type", "$repr"} does for one that
// JSON cannot hold.
type cutValue struct {
	Start string `json:"$truncated"` // the beginning of its JSON
	Size  int    `json:"$size"`      // of all of it, in bytes
}

// bounded cuts a Result to what an agent is given. Notes say what was cut.
func bounded(r run.Result) (cut run.Result, notes []string) {
	if len(r.Value) > mostValue {
		notes = append(notes, note("result", len(r.Value), mostValue))
		r.Value = cutOf(r.Value)
	}
	left := mostValue
	variables := make(map[string]json.RawMessage, len(r.Variables))
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		value := r.Variables[name]
		if len(value) > left {
			notes = append(notes, note(name, len(value), mostValue))
			value = cutOf(value)
		}
		left = max(left-len(value), 0)
		variables[name] = value
	}
	r.Variables = variables
	for _, s := range []struct {
		name      string
		text      *string
		truncated *bool
	}{{"stdout", &r.Stdout, &r.StdoutTruncated}, {"stderr", &r.Stderr, &r.StderrTruncated}} {
		if len(*s.text) > mostStream {
			notes = append(notes, note(s.name, len(*s.text), mostStream))
			*s.text, *s.truncated = text.Cut(*s.text, mostStream), true
		}
	}
	return r, notes
}

func note(what string, size, most int) string {
	return fmt.Sprintf("%s is cut: it has %d bytes, and an answer holds %d.", what, size, most)
}

func cutOf(value json.RawMessage) json.RawMessage {
	// The conversion copies what is kept, and no more.
	return structured(cutValue{text.Cut(string(value[:keptStart+utf8.UTFMax]), keptStart), len(value)})
}
