package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonValue is a value in JSON with comments and trailing commas, which editors accept.
// Positions are byte offsets.
type jsonValue struct {
	start, end int
	members    []jsonMember // of an object
	isObject   bool
	parsed     hujson.Value
}

type jsonMember struct {
	start int // of its name
	name  string
	value jsonValue
	comma int // the position after its comma, 0 if it has none
}

func (v jsonValue) member(name string) (m jsonMember, there bool) {
	for _, m := range v.members {
		if m.name == name {
			return m, true
		}
	}
	return jsonMember{}, false
}

// plain decodes the value as encoding/json does.
func (v jsonValue) plain() (plain any, err error) {
	standard := v.parsed.Clone()
	standard.Standardize()
	err = json.Unmarshal(standard.Pack(), &plain)
	return plain, err
}

const (
	// maxSize bounds a file, and maxNesting the depth of its values, because the parser is
	// recursive.
	maxSize    = 16 << 20
	maxNesting = 1000
)

var byteOrderMark = []byte("\uFEFF")

// parseJSON parses a whole text.
func parseJSON(text []byte) (jsonValue, error) {
	body := bytes.TrimPrefix(text, byteOrderMark)
	if len(body) > maxSize || nesting(body) > maxNesting {
		return jsonValue{}, fmt.Errorf("it is too large to be a configuration")
	}
	v, err := hujson.Parse(body)
	if err != nil {
		return jsonValue{}, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return convert(v, body, len(text)-len(body))
}

// nesting returns the largest number of brackets that are open at the same time. It also
// counts brackets in strings.
func nesting(text []byte) (deepest int) {
	open := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			open++
			deepest = max(deepest, open)
		case ']', '}':
			open--
		}
	}
	return deepest
}

// convert adds the positions to a parsed value. The body begins shift bytes after the start
// of the text.
func convert(v hujson.Value, body []byte, shift int) (jsonValue, error) {
	made := jsonValue{start: v.StartOffset + shift, end: v.EndOffset + shift, parsed: v}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return made, nil
	}
	made.isObject = true
	for _, m := range object.Members {
		member := jsonMember{start: m.Name.StartOffset + shift}
		if err := json.Unmarshal(body[m.Name.StartOffset:m.Name.EndOffset], &member.name); err != nil {
			return made, fmt.Errorf("it is not JSON: %w", err)
		}
		if _, twice := made.member(member.name); twice {
			return made, fmt.Errorf("it has the name %q twice in one object", member.name)
		}
		var err error
		if member.value, err = convert(m.Value, body, shift); err != nil {
			return made, err
		}
		if after := m.Value.EndOffset + len(m.Value.AfterExtra); after < len(body) && body[after] == ',' {
			member.comma = after + 1 + shift
		}
		made.members = append(made.members, member)
	}
	return made, nil
}
