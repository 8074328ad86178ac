package mcpclient

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// jsonValue is a value in a text of JSON with comments and trailing commas, as editors
// accept it. Positions are bytes.
type jsonValue struct {
	start, end int
	members    []jsonMember // of an object
	isObject   bool
	plain      any // what encoding/json would make of it
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

// jsonReader reads a text from its beginning.
type jsonReader struct {
	text []byte
	at   int
}

// deepest bounds the nesting, so that no file can exhaust the stack.
const deepest = 200

// parseJSON reads all of a text.
func parseJSON(text []byte) (jsonValue, error) {
	if !utf8.Valid(text) {
		return jsonValue{}, fmt.Errorf("it is not valid UTF-8")
	}
	r := &jsonReader{text: text}
	if strings.HasPrefix(string(text), "\uFEFF") {
		r.at = len("\uFEFF")
	}
	v, err := r.value(0)
	if err == nil {
		err = r.space()
	}
	if err == nil && r.at < len(text) {
		err = r.wrong("more than one value")
	}
	return v, err
}

// wrong says where.
func (r *jsonReader) wrong(what string) error {
	before := string(r.text[:min(r.at, len(r.text))])
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("it is not JSON: %s in line %d, column %d", what, line, column)
}

// space skips white space and comments.
func (r *jsonReader) space() error {
	for r.at < len(r.text) {
		rest := string(r.text[r.at:min(r.at+2, len(r.text))])
		switch {
		case strings.ContainsAny(rest[:1], " \t\r\n"):
			r.at++
		case rest == "//":
			if end := strings.IndexByte(string(r.text[r.at:]), '\n'); end >= 0 {
				r.at += end
			} else {
				r.at = len(r.text)
			}
		case rest == "/*":
			end := strings.Index(string(r.text[r.at+2:]), "*/")
			if end < 0 {
				return r.wrong("a comment without an end")
			}
			r.at += 2 + end + 2
		default:
			return nil
		}
	}
	return nil
}

func (r *jsonReader) value(depth int) (v jsonValue, err error) {
	if err := r.space(); err != nil {
		return v, err
	}
	switch {
	case depth > deepest:
		return v, r.wrong("too deep a nesting")
	case r.at >= len(r.text):
		return v, r.wrong("an early end")
	}
	v.start = r.at
	switch r.text[r.at] {
	case '{':
		err = r.object(&v, depth)
	case '[':
		err = r.array(&v, depth)
	default:
		err = r.scalar(&v)
	}
	v.end = r.at
	return v, err
}

// scalar reads a string, a number or a word, which encoding/json judges.
func (r *jsonReader) scalar(v *jsonValue) error {
	end := r.at
	if r.text[r.at] == '"' {
		for end++; end < len(r.text) && r.text[end] != '"' && r.text[end] != '\n'; end++ {
			if r.text[end] == '\\' {
				end++
			}
		}
		end = min(end+1, len(r.text))
	} else {
		for end < len(r.text) && !strings.ContainsRune(" \t\r\n,:{}[]\"/", rune(r.text[end])) {
			end++
		}
	}
	d := json.NewDecoder(strings.NewReader(string(r.text[r.at:end])))
	d.UseNumber()
	if err := d.Decode(&v.plain); err != nil || d.InputOffset() != int64(end-r.at) {
		return r.wrong("no value")
	}
	r.at = end
	return nil
}

func (r *jsonReader) object(v *jsonValue, depth int) error {
	v.isObject = true
	plain := map[string]any{}
	v.plain = plain
	r.at++
	for {
		closed, err := r.closes('}')
		if closed || err != nil {
			return err
		}
		var m jsonMember
		name, err := r.value(deepest)
		text, isText := name.plain.(string)
		switch {
		case err != nil:
			return err
		case !isText:
			r.at = name.start
			return r.wrong("a name that is no string")
		}
		m.start, m.name = name.start, text
		if _, twice := plain[m.name]; twice {
			r.at = m.start
			return r.wrong(fmt.Sprintf("%q for the second time", m.name))
		}
		if err := r.space(); err != nil {
			return err
		}
		if r.at >= len(r.text) || r.text[r.at] != ':' {
			return r.wrong("no colon")
		}
		r.at++
		if m.value, err = r.value(depth + 1); err != nil {
			return err
		}
		plain[m.name] = m.value.plain
		if m.comma, err = r.comma('}'); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
}

func (r *jsonReader) array(v *jsonValue, depth int) error {
	plain := []any{}
	r.at++
	for {
		closed, err := r.closes(']')
		if closed || err != nil {
			v.plain = plain
			return err
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		plain = append(plain, item.plain)
		if _, err := r.comma(']'); err != nil {
			return err
		}
	}
}

// closes skips a closing bracket, if one is next.
func (r *jsonReader) closes(bracket byte) (bool, error) {
	if err := r.space(); err != nil {
		return false, err
	}
	if r.at >= len(r.text) {
		return false, r.wrong("an early end")
	}
	if r.text[r.at] == bracket {
		r.at++
		return true, nil
	}
	return false, nil
}

// comma skips a comma, which only a closing bracket may lack.
func (r *jsonReader) comma(bracket byte) (behind int, err error) {
	if err := r.space(); err != nil {
		return 0, err
	}
	switch {
	case r.at >= len(r.text):
		return 0, r.wrong("an early end")
	case r.text[r.at] == ',':
		r.at++
		return r.at, nil
	case r.text[r.at] != bracket:
		return 0, r.wrong("no comma")
	}
	return 0, nil
}
