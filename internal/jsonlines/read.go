package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// line is a line of input. Only the beginning of a line that is too long is kept.
type line struct {
	text    []byte
	tooLong bool
}

func (l line) order() (order, error) {
	if l.tooLong {
		return order{}, run.Errorf(run.Invalid, "request: the line is longer than %v, the most that a request may be", policy.Bytes(run.MaxPayload))
	}
	return parseOrder(l.text)
}

// id finds the id of a line that is not a valid request. If the line cannot be parsed, it
// is the id that the line begins with, if there is one.
func (l line) id() json.RawMessage {
	var it struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(l.text, &it) == nil && len(it.ID) > 0 {
		return it.ID
	}
	d := json.NewDecoder(bytes.NewReader(l.text))
	if open, err := d.Token(); err == nil && open == json.Delim('{') {
		name, err := d.Token()
		if err == nil && name == "id" && d.Decode(&it.ID) == nil && int(d.InputOffset()) < len(l.text) {
			return it.ID
		}
	}
	return json.RawMessage("null")
}

// nextLine reads a line, and reports whether it has any content. The last line may come
// together with the error.
func nextLine(r *bufio.Reader) (l line, more bool, err error) {
	l.text, l.tooLong, err = text.ReadLine(r, run.MaxPayload)
	return l, len(bytes.TrimSpace(l.text)) > 0 || l.tooLong, err
}

// endOfInput returns nil for an error that is the normal end of the input.
func endOfInput(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return run.Errorf(run.Internal, "standard input: %w", err)
}
