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

// conflicting returns the fields that belong to the other way to reach a server. An entry
// with both a command and a URL would be ambiguous.
func conflicting(entry []field) []string {
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
		return nil, fmt.Errorf("it is not a JSON object")
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

// jsonEditor makes small edits to a text and parses it again after each.
type jsonEditor struct {
	text          []byte
	newline, unit string
}

// mergeEntry sets the fields of the entry at a path, and keeps its other fields.
func (e *jsonEditor) mergeEntry(path []string, entry []field) error {
	old, err := e.find(path)
	if err != nil {
		return err
	}
	if old == nil || !old.isObject {
		return e.set(path, entry)
	}
	removed := conflicting(entry)
	if _, has := old.member("type"); has && !slices.ContainsFunc(entry, func(f field) bool { return f.name == "type" }) {
		removed = append(removed, "type")
	}
	for _, name := range removed {
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

// find returns the value at a path, or nil if there is none.
func (e *jsonEditor) find(path []string) (*jsonValue, error) {
	v, err := parseJSON(e.text)
	if err != nil {
		return nil, err
	}
	for i, name := range path {
		if !v.isObject {
			return nil, fmt.Errorf("%q is not an object", strings.Join(path[:i], "."))
		}
		m, there := v.member(name)
		if !there {
			return nil, nil
		}
		v = m.value
	}
	return &v, nil
}

// set sets the value at a path, and creates the missing objects above it.
func (e *jsonEditor) set(path []string, value any) error {
	old, err := e.find(path)
	if err != nil {
		return err
	}
	if old != nil {
		indent := e.indentAt(old.start)
		made := jsonText(value, indent, e.unit)
		if !sameJSON(*old, made) {
			e.splice(old.start, old.end, strings.ReplaceAll(made, "\n", e.newline))
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

// insert adds a member after all others, and after the comments that follow them.
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
	e.splice(end, closing, strings.ReplaceAll("\n"+made+"\n"+outer, "\n", e.newline))
	if n := len(parent.members); n > 0 && parent.members[n-1].comma == 0 {
		at := parent.members[n-1].value.end
		e.splice(at, at, ",")
	}
}

// remove deletes a member of the object at a path, if it exists.
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
		e.splice(start, m.comma, "")
	case at > 0:
		e.splice(parent.members[at-1].value.end, parent.members[at].value.end, "")
	default:
		e.splice(parent.members[at].start, parent.members[at].value.end, "")
	}
	return nil
}

// splice replaces the bytes from start to end.
func (e *jsonEditor) splice(start, end int, text string) {
	e.text = slices.Concat(e.text[:start], []byte(text), e.text[end:])
}

// indentAt returns the indentation of the line that contains a position.
func (e *jsonEditor) indentAt(at int) string {
	line := e.text[bytes.LastIndexByte(e.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// sameJSON reports whether a value is equal to the value of a text.
func sameJSON(old jsonValue, text string) bool {
	var made any
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		return false
	}
	plain, err := old.plain()
	return err == nil && reflect.DeepEqual(plain, made)
}

// jsonText formats a value. It does not indent the first line.
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
		return "null" // strings and booleans can always be encoded
	}
	return string(text)
}
