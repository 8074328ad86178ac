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

// An answer becomes part of a model's context, and there are several copies of it in memory
// before it is sent. Longer values are cut, and replaced by their beginning and their size.
const (
	maxValue  = 256 << 10 // bytes of `result` as JSON, and of all variables together
	maxStream = 256 << 10 // bytes of stdout, and of stderr
	keptStart = 4 << 10   // bytes that are kept of a value that is cut
)

// cutValue replaces a value that is too long, as {"$type", "$repr"} replaces one that JSON
// cannot represent.
type cutValue struct {
	Start string `json:"$truncated"` // the beginning of its JSON
	Size  int    `json:"$size"`      // of its JSON, in bytes
}

// bounded cuts the long parts of a Result. Each note describes one cut.
func bounded(r run.Result) (cut run.Result, notes []string) {
	if len(r.Value) > maxValue {
		notes = append(notes, note("result", len(r.Value), maxValue))
		r.Value = cutOf(r.Value)
	}
	left := maxValue
	variables := make(map[string]json.RawMessage, len(r.Variables))
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		value := r.Variables[name]
		if len(value) > left {
			notes = append(notes, note(name, len(value), maxValue))
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
		if len(*s.text) > maxStream {
			notes = append(notes, note(s.name, len(*s.text), maxStream))
			*s.text, *s.truncated = text.Cut(*s.text, maxStream), true
		}
	}
	return r, notes
}

func note(what string, size, most int) string {
	return fmt.Sprintf("%s is cut: it has %d bytes, and an answer holds %d.", what, size, most)
}

func cutOf(value json.RawMessage) json.RawMessage {
	// Convert only the bytes that are kept, because the conversion copies.
	return structured(cutValue{text.Cut(string(value[:keptStart+utf8.UTFMax]), keptStart), len(value)})
}
