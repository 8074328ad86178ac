package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
)

// rivals are what only the other way to reach a server has: a command and a URL in one
// entry would be a riddle.
func rivals(entry []field) []string {
	isURL := slices.ContainsFunc(entry, func(f field) bool { return f.name == "url" })
	if isURL {
		return []string{"command", "args", "env", "environment", "cwd"}
	}
	return []string{"url", "headers", "bearer_token_env_var", "http_headers", "env_http_headers"}
}

func (jsonFile) merge(text []byte, key, name string, entry, fresh []field) ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))) == 0 {
		whole := append(slices.Clone(fresh), field{key, []field{{name, entry}}})
		return append([]byte(jsonText(whole, "", "  ")), '\n'), nil
	}
	e := jsonEditor{text: text, newline: "\n", unit: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		e.newline = "\r\n"
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if !root.isObject {
		return nil, fmt.Errorf("it holds no object")
	}
	if len(root.members) > 0 {
		if indent := e.indentAt(root.members[0].start); indent != "" {
			e.unit = indent
		}
	}
	if err := e.mergeEntry([]string{key, name}, entry); err != nil {
		return nil, err
	}
	return e.text, nil
}

// jsonEditor changes a text by small cuts, and reads it anew after each.
type jsonEditor struct {
	text          []byte
	newline, unit string
}

// mergeEntry sets the fields of the entry at a path, and keeps what else it has.
func (e *jsonEditor) mergeEntry(path []string, entry []field) error {
	old, err := e.find(path)
	if err != nil {
		return err
	}
	if old == nil || !old.isObject {
		return e.set(path, entry)
	}
	gone := rivals(entry)
	if _, has := old.member("type"); has && !slices.ContainsFunc(entry, func(f field) bool { return f.name == "type" }) {
		gone = append(gone, "type")
	}
	for _, name := range gone {
		if err := e.remove(path, name); err != nil {
			return err
		}
	}
	for _, f := range entry {
		deeper := append(slices.Clone(path), f.name)
		if fields, nested := f.value.([]field); nested {
			err = e.mergeEntry(deeper, fields)
		} else {
			err = e.set(deeper, f.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find gives the value at a path, nil if there is none.
func (e *jsonEditor) find(path []string) (*jsonValue, error) {
	v, err := parseJSON(e.text)
	if err != nil {
		return nil, err
	}
	for i, name := range path {
		if !v.isObject {
			return nil, fmt.Errorf("%q is no object in it", strings.Join(path[:i], "."))
		}
		m, there := v.member(name)
		if !there {
			return nil, nil
		}
		v = m.value
	}
	return &v, nil
}

// set puts a value to a path, and makes the objects on the way.
func (e *jsonEditor) set(path []string, value any) error {
	old, err := e.find(path)
	if err != nil {
		return err
	}
	if old != nil {
		indent := e.indentAt(old.start)
		made := jsonText(value, indent, e.unit)
		if !sameJSON(*old, made) {
			e.cut(old.start, old.end, strings.ReplaceAll(made, "\n", e.newline))
		}
		return nil
	}
	parent, err := e.find(path[:len(path)-1])
	if err != nil {
		return err
	}
	if parent == nil {
		last := path[len(path)-1]
		return e.set(path[:len(path)-1], []field{{last, value}})
	}
	e.insert(*parent, path[len(path)-1], value)
	return nil
}

// insert adds a member behind all others, and before a comment on none of them.
func (e *jsonEditor) insert(parent jsonValue, name string, value any) {
	outer := e.indentAt(parent.start)
	inner := outer + e.unit
	if len(parent.members) > 0 {
		if at := e.indentAt(parent.members[0].start); len(at) > len(outer) {
			inner = at
		}
	}
	made := inner + jsonText(name, "", "") + ": " + jsonText(value, inner, e.unit)
	closing := parent.end - 1
	kept := bytes.TrimRight(e.text[parent.start:closing], " \t\r\n")
	end := parent.start + len(kept)
	e.cut(end, closing, strings.ReplaceAll("\n"+made+"\n"+outer, "\n", e.newline))
	if n := len(parent.members); n > 0 && parent.members[n-1].comma == 0 {
		at := parent.members[n-1].value.end
		e.cut(at, at, ",")
	}
}

// remove takes a member out of the object at a path, if it is there.
func (e *jsonEditor) remove(path []string, name string) error {
	parent, err := e.find(path)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(parent.members, func(m jsonMember) bool { return m.name == name })
	switch {
	case at < 0:
	case parent.members[at].comma > 0:
		m := parent.members[at]
		start := m.start
		for start > 0 && strings.ContainsRune(" \t\r\n", rune(e.text[start-1])) {
			start--
		}
		e.cut(start, m.comma, "")
	case at > 0:
		e.cut(parent.members[at-1].value.end, parent.members[at].value.end, "")
	default:
		e.cut(parent.members[at].start, parent.members[at].value.end, "")
	}
	return nil
}

func (e *jsonEditor) cut(start, end int, instead string) {
	e.text = slices.Concat(e.text[:start], []byte(instead), e.text[end:])
}

// indentAt is the white space at the beginning of the line of a position.
func (e *jsonEditor) indentAt(at int) string {
	line := e.text[bytes.LastIndexByte(e.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// sameJSON reports whether a value says what a text does.
func sameJSON(old jsonValue, text string) bool {
	var made any
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		return false
	}
	plain, err := old.plain()
	return err == nil && reflect.DeepEqual(plain, made)
}

// jsonText writes a value, its first line not indented.
func jsonText(value any, indent, unit string) string {
	switch v := value.(type) {
	case []field:
		if len(v) == 0 {
			return "{}"
		}
		var lines []string
		for _, f := range v {
			lines = append(lines, indent+unit+jsonText(f.name, "", "")+": "+jsonText(f.value, indent+unit, unit))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, jsonText(item, "", ""))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	text, err := plainjson.Marshal(value)
	if err != nil {
		return "null" // strings and booleans can always be written
	}
	return string(text)
}
