package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonValue is a value in a text of JSON with comments and trailing commas, as editors
// accept it. Positions are bytes.
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
	comma int // behind the comma that follows it, 0 if none does
}

func (v jsonValue) member(name string) (m jsonMember, there bool) {
	for _, m := range v.members {
		if m.name == name {
			return m, true
		}
	}
	return jsonMember{}, false
}

// plain returns what encoding/json makes of the value.
func (v jsonValue) plain() (plain any, err error) {
	standard := v.parsed.Clone()
	standard.Standardize()
	err = json.Unmarshal(standard.Pack(), &plain)
	return plain, err
}

const (
	// largest bounds a file, and deepest its nesting: the parser is recursive.
	largest = 16 << 20
	deepest = 1000
)

var byteOrderMark = []byte("\uFEFF")

// parseJSON reads all of a text.
func parseJSON(text []byte) (jsonValue, error) {
	body := bytes.TrimPrefix(text, byteOrderMark)
	if len(body) > largest || nesting(body) > deepest {
		return jsonValue{}, fmt.Errorf("it is too large to be a configuration")
	}
	v, err := hujson.Parse(body)
	if err != nil {
		return jsonValue{}, fmt.Errorf("it is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return convert(v, body, len(text)-len(body))
}

// nesting counts brackets that are open at the same time, those in strings too.
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

// convert returns a value whose positions are counted from shift before the body.
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
		if behind := m.Value.EndOffset + len(m.Value.AfterExtra); behind < len(body) && body[behind] == ',' {
			member.comma = behind + 1 + shift
		}
		made.members = append(made.members, member)
	}
	return made, nil
}
