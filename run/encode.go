package run

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
)

// Size is what r holds in memory, about: its value, variables, output and exception.
func (r Result) Size() int64 {
	const fixed = 1 << 10
	size := fixed + int64(r.ValueSize()) + int64(len(r.Stdout)+len(r.Stderr)+len(r.Error))
	if r.Exception != nil {
		size += int64(len(r.Exception.Message) + len(r.Exception.Traceback))
	}
	for _, v := range r.Violations {
		size += int64(len(v.Detail) + len(v.Hint))
	}
	return size
}

// Encode writes what MarshalJSON gives, and a line break. It holds no second copy of what
// can be large: the value goes out as it is, and texts in pieces.
func (r Result) Encode(w io.Writer) error { return r.encode(w, false) }

// EncodeBrief writes what MarshalBrief gives, and a line break.
func (r Result) EncodeBrief(w io.Writer) error { return r.encode(w, true) }

func (r Result) encode(w io.Writer, brief bool) error {
	e := encoder{to: w}
	ending := r.ending()
	variables := ending.Variables
	e.text("{")
	e.fields(struct {
		ID      string  `json:"id,omitempty"`
		Status  Status  `json:"status"`
		Outcome Outcome `json:"outcome"`
	}{r.ID, r.Status, r.Outcome})
	e.text(`,"result":`)
	e.value(ending.Value)
	e.text(",")
	e.fields(struct {
		Error     *string    `json:"error"`
		ErrorType *ErrorType `json:"error_type"`
		Exception *Exception `json:"exception"`
		ExitCode  *int       `json:"exit_code"`
		Signal    *string    `json:"signal"`
	}{ending.Error, ending.ErrorType, ending.Exception, ending.ExitCode, ending.Signal})
	e.text(`,"stdout":`)
	e.quoted(r.Stdout)
	e.text(`,"stderr":`)
	e.quoted(r.Stderr)
	e.text(",")
	e.fields(struct {
		StdoutSize      policy.Bytes `json:"stdout_size"`
		StderrSize      policy.Bytes `json:"stderr_size"`
		StdoutTruncated bool         `json:"stdout_truncated"`
		StderrTruncated bool         `json:"stderr_truncated"`
	}{r.StdoutSize, r.StderrSize, r.StdoutTruncated, r.StderrTruncated})
	e.text(`,"variables":{`)
	for i, name := range slices.Sorted(maps.Keys(variables)) {
		if i > 0 {
			e.text(",")
		}
		e.quoted(name)
		e.text(":")
		e.value(variables[name])
	}
	e.text("},")
	if violations := orEmpty(r.Violations); brief {
		e.fields(struct {
			Violations []Violation `json:"violations"`
		}{violations})
	} else {
		e.fields(struct {
			Usage       wireUsage       `json:"usage"`
			Violations  []Violation     `json:"violations"`
			Traffic     []Traffic       `json:"traffic"`
			Enforcement wireEnforcement `json:"enforcement"`
		}{r.Usage.wire(), violations, orEmpty(r.Traffic), r.Enforcement.wire()})
	}
	e.text("}\n")
	return e.err
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// encoder writes pieces of JSON, and remembers the first error.
type encoder struct {
	to  io.Writer
	err error
}

func (e *encoder) bytes(p []byte) {
	if e.err == nil {
		_, e.err = e.to.Write(p)
	}
}

func (e *encoder) text(s string) { e.bytes([]byte(s)) }

// fields writes an object without its braces.
func (e *encoder) fields(v any) {
	text, err := marshalPlainly(v)
	if err != nil {
		e.fail(err)
		return
	}
	e.bytes(text[1 : len(text)-1])
}

// value writes JSON on one line. A guest's value is checked and on one line already; only
// a caller's own Result can have another.
func (e *encoder) value(raw json.RawMessage) {
	if bytes.ContainsAny(raw, "\n\r") {
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			e.fail(err)
			return
		}
		raw = compact.Bytes()
	}
	e.bytes(raw)
}

const pieceSize = 32 << 10

// quoted writes a text, in pieces that end between characters.
func (e *encoder) quoted(s string) {
	e.text(`"`)
	for len(s) > 0 && e.err == nil {
		piece := text.Cut(s, pieceSize)
		quoted, err := marshalPlainly(piece)
		if err != nil {
			e.fail(err)
			return
		}
		e.bytes(quoted[1 : len(quoted)-1])
		s = s[len(piece):]
	}
	e.text(`"`)
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}
