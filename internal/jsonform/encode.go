package jsonform

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// Encode writes the same JSON as MarshalJSON, and a line break. It makes no second copy of
// large data: the value is written as it is, and texts in pieces.
func Encode(w io.Writer, r run.Result) error { return encode(w, r, false) }

// EncodeBrief is Encode without usage, traffic, modules and enforcement, which are two
// thirds of a small Result. It is for callers that call often and do not ask for them.
func EncodeBrief(w io.Writer, r run.Result) error { return encode(w, r, true) }

func encode(w io.Writer, r run.Result, brief bool) error {
	e := encoder{to: w}
	e.text("{")
	e.fields(struct {
		Version int         `json:"v"`
		ID      string      `json:"id,omitempty"`
		Status  run.Status  `json:"status"`
		Outcome run.Outcome `json:"outcome"`
	}{run.Version, r.ID, r.Status, r.Outcome})
	e.text(`,"result":`)
	e.value(r.ValueOrNull())
	e.text(",")
	e.fields(struct {
		Error     *string        `json:"error"`
		ErrorType *run.ErrorType `json:"error_type"`
		Exception *run.Exception `json:"exception"`
		ExitCode  *int           `json:"exit_code"`
		Signal    *string        `json:"signal"`
	}{plainjson.OrNil(r.Error), plainjson.OrNil(r.ErrorType), r.Exception, r.ExitCode, plainjson.OrNil(r.Signal)})
	e.text(`,"stdout":`)
	e.quoted(r.Stdout)
	e.text(`,"stderr":`)
	e.quoted(r.Stderr)
	e.text(",")
	e.fields(struct {
		StdoutSize      int64 `json:"stdout_bytes"`
		StderrSize      int64 `json:"stderr_bytes"`
		StdoutTruncated bool  `json:"stdout_truncated"`
		StderrTruncated bool  `json:"stderr_truncated"`
	}{int64(r.StdoutSize), int64(r.StderrSize), r.StdoutTruncated, r.StderrTruncated})
	e.text(`,"variables":{`)
	for i, name := range slices.Sorted(maps.Keys(r.Variables)) {
		if i > 0 {
			e.text(",")
		}
		e.quoted(name)
		e.text(":")
		e.value(plainjson.OrNull(r.Variables[name]))
	}
	e.text("},")
	if !brief {
		// These have methods that write JSON. Called directly, they write it once: an
		// encoder would read it again.
		e.text(`"usage":`)
		e.made(r.Usage.MarshalJSON())
		e.text(",")
	}
	e.fields(struct {
		Violations []run.Violation `json:"violations"`
	}{orEmpty(r.Violations)})
	if !brief {
		e.text(",")
		e.fields(struct {
			Traffic []run.Traffic   `json:"traffic"`
			Modules []run.ModuleUse `json:"modules"`
		}{orEmpty(r.Traffic), orEmpty(r.Modules)})
		e.text(`,"enforcement":`)
		e.made(r.Enforcement.MarshalJSON())
	}
	if len(r.Artifacts) > 0 {
		e.artifacts(r.Artifacts)
	}
	if r.ArtifactsOmitted > 0 {
		e.text(fmt.Sprintf(`,"artifacts_omitted":%d`, r.ArtifactsOmitted))
	}
	if r.ArtifactsError != "" {
		e.text(`,"artifacts_error":`)
		e.quoted(r.ArtifactsError)
	}
	if r.Step != nil {
		e.text(`,"step":`)
		e.step(*r.Step)
	}
	e.text("}\n")
	return e.err
}

// Document returns the JSON of v, which must be an object, with the version of cordon's
// documents as its first key. A Result has that key already.
func Document(v any) (json.RawMessage, error) {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return nil, err
	}
	document := fmt.Appendf(nil, `{"v":%d`, run.Version)
	if members := text[1:]; len(members) > 1 {
		document = append(document, ',')
	}
	return append(document, text[1:]...), nil
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

// step writes what a step displayed in pieces: pictures are large.
func (e *encoder) step(s run.Step) {
	e.text("{")
	e.fields(struct {
		Number   int      `json:"number"`
		Survived bool     `json:"survived"`
		Added    []string `json:"added,omitempty"`
		Changed  []string `json:"changed,omitempty"`
		Removed  []string `json:"removed,omitempty"`
	}{s.Number, s.Survived, s.Added, s.Changed, s.Removed})
	e.text(`,"display":[`)
	for i, shown := range s.Display {
		if i > 0 {
			e.text(",")
		}
		e.text(`{"forms":{`)
		for j, kind := range slices.Sorted(maps.Keys(shown.Forms)) {
			if j > 0 {
				e.text(",")
			}
			e.quoted(kind)
			e.text(":")
			e.quoted(shown.Forms[kind])
		}
		e.text("}")
		if shown.Value {
			e.text(`,"value":true`)
		}
		e.text("}")
	}
	e.text("]")
	if s.Omitted > 0 {
		e.text(fmt.Sprintf(`,"display_omitted":%d`, s.Omitted))
	}
	e.text("}")
}

// artifacts writes files with either data or an error.
func (e *encoder) artifacts(list []run.Artifact) {
	e.text(`,"artifacts":[`)
	for i, a := range list {
		if i > 0 {
			e.text(",")
		}
		if a.Error != "" {
			e.made(a.MarshalJSON())
			continue
		}
		e.withData(struct {
			Name string `json:"name"`
			Size int64  `json:"bytes"`
			Type string `json:"type"`
			Hash string `json:"sha256,omitempty"`
		}{a.Name, int64(a.Size), a.Type, a.Hash}, a.Data)
	}
	e.text("]")
}

// withData writes an object, and in it data in base64, in pieces.
func (e *encoder) withData(v any, data []byte) {
	e.text("{")
	e.fields(v)
	e.text(`,"base64":"`)
	to := base64.NewEncoder(base64.StdEncoding, e)
	_, _ = to.Write(data) // e remembers the error
	_ = to.Close()
	e.text(`"}`)
}

// Write makes the encoder an io.Writer. Its error is the first one.
func (e *encoder) Write(p []byte) (int, error) {
	e.bytes(p)
	return len(p), e.err
}

func (e *encoder) bytes(p []byte) {
	if e.err == nil {
		_, e.err = e.to.Write(p)
	}
}

// made writes the JSON that a method returned.
func (e *encoder) made(text []byte, err error) {
	if err != nil {
		e.fail(err)
		return
	}
	e.bytes(text)
}

func (e *encoder) text(s string) { e.bytes([]byte(s)) }

// fields writes an object without its braces.
func (e *encoder) fields(v any) {
	text, err := plainjson.Marshal(v)
	if err != nil {
		e.fail(err)
		return
	}
	e.bytes(text[1 : len(text)-1])
}

// value writes JSON on one line. A guest's value is checked and already on one line; only a
// Result that a caller made can differ.
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

// quoted writes a text as a JSON string, in pieces that end between characters.
func (e *encoder) quoted(s string) {
	e.text(`"`)
	for len(s) > 0 && e.err == nil {
		piece := text.Cut(s, pieceSize)
		quoted, err := plainjson.Marshal(piece)
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
