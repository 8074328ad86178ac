// Package plainjson has the parts of JSON that all answers share: texts without HTML
// escapes, null for what is empty, and durations as numbers of milliseconds.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal, but leaves <, > and & as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// OrNull returns raw, or null if it is empty. An empty RawMessage that is not nil cannot
// be encoded.
func OrNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// OrNil returns a pointer to s, or nil if it is empty: JSON shows null.
func OrNil[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}
