package mcpclient

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// tomlLine is a statement of a TOML file: the head of a table, or a key and its value.
// Both can be found and left alone without knowing what a value means.
type tomlLine struct {
	start, end         int // all of it, with its line's end
	key                []string
	isTable, isArray   bool // [a.b] and [[a.b]]
	valueFrom, valueTo int
	table              []string // in which it stands
}

type tomlReader struct {
	text string
	at   int
}

// parseTOML finds the statements of a file.
func parseTOML(text []byte) (lines []tomlLine, err error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("it is not valid UTF-8")
	}
	r := &tomlReader{text: string(text)}
	r.at = len(r.text) - len(strings.TrimPrefix(r.text, "\uFEFF"))
	var table []string
	for {
		r.skip(" \t\r\n")
		if r.at >= len(r.text) {
			return lines, nil
		}
		if r.text[r.at] == '#' {
			r.comment()
			continue
		}
		line := tomlLine{start: r.at, table: table}
		if strings.HasPrefix(r.text[r.at:], "[") {
			err = r.head(&line)
			table = line.key
		} else {
			err = r.pair(&line)
		}
		if err == nil {
			err = r.endLine()
		}
		if err != nil {
			return nil, err
		}
		line.end = r.at
		lines = append(lines, line)
	}
}

func (r *tomlReader) wrong(what string) error {
	return fmt.Errorf("it is not TOML: %s in line %d", what, strings.Count(r.text[:min(r.at, len(r.text))], "\n")+1)
}

func (r *tomlReader) skip(set string) {
	for r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *tomlReader) comment() {
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		r.at++
	}
}

// endLine skips what may follow a statement: white space, a comment, the line's end.
func (r *tomlReader) endLine() error {
	r.skip(" \t\r")
	if r.at < len(r.text) && r.text[r.at] == '#' {
		r.comment()
	}
	if r.at < len(r.text) && r.text[r.at] != '\n' {
		return r.wrong("more than one statement")
	}
	r.at = min(r.at+1, len(r.text))
	return nil
}

func (r *tomlReader) head(line *tomlLine) (err error) {
	line.isTable = true
	open, closing := "[", "]"
	if strings.HasPrefix(r.text[r.at:], "[[") {
		line.isArray, open, closing = true, "[[", "]]"
	}
	r.at += len(open)
	if line.key, err = r.key(); err != nil {
		return err
	}
	if !strings.HasPrefix(r.text[r.at:], closing) {
		return r.wrong("a table's name without its end")
	}
	r.at += len(closing)
	return nil
}

func (r *tomlReader) pair(line *tomlLine) (err error) {
	if line.key, err = r.key(); err != nil {
		return err
	}
	if r.at >= len(r.text) || r.text[r.at] != '=' {
		return r.wrong("a key without a value")
	}
	r.at++
	r.skip(" \t")
	line.valueFrom = r.at
	err = r.value(0)
	line.valueTo = r.at
	return err
}

// key reads a dotted key and the white space behind it.
func (r *tomlReader) key() (parts []string, err error) {
	for {
		r.skip(" \t")
		start := r.at
		switch {
		case r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\''):
			if err := r.quoted(); err != nil {
				return nil, err
			}
			part := r.text[start+1 : r.at-1]
			if strings.Contains(part, `\`) && r.text[start] == '"' {
				return nil, r.wrong("a key with escapes, which cordon does not read,")
			}
			parts = append(parts, part)
		default:
			for r.at < len(r.text) && isPlain(r.text[r.at:r.at+1]) {
				r.at++
			}
			if r.at == start {
				return nil, r.wrong("no key")
			}
			parts = append(parts, r.text[start:r.at])
		}
		r.skip(" \t")
		if r.at >= len(r.text) || r.text[r.at] != '.' {
			return parts, nil
		}
		r.at++
	}
}

// quoted skips a string of one line.
func (r *tomlReader) quoted() error {
	quote := r.text[r.at]
	for r.at++; r.at < len(r.text) && r.text[r.at] != quote; r.at++ {
		if r.text[r.at] == '\n' {
			return r.wrong("a string without its end")
		}
		if quote == '"' && r.text[r.at] == '\\' {
			r.at++
		}
	}
	if r.at >= len(r.text) {
		return r.wrong("a string without its end")
	}
	r.at++
	return nil
}

// value skips a value.
func (r *tomlReader) value(depth int) error {
	rest := r.text[min(r.at, len(r.text)):]
	switch {
	case depth > deepest:
		return r.wrong("too deep a nesting")
	case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
		return r.long(rest[:3])
	case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, "'"):
		return r.quoted()
	case strings.HasPrefix(rest, "["):
		return r.list(depth, ']', r.value)
	case strings.HasPrefix(rest, "{"):
		return r.list(depth, '}', func(depth int) error {
			var inner tomlLine
			if inner.key, _ = r.key(); inner.key == nil || r.at >= len(r.text) || r.text[r.at] != '=' {
				return r.wrong("a key without a value")
			}
			r.at++
			r.skip(" \t")
			return r.value(depth)
		})
	}
	start := r.at
	for r.at < len(r.text) && strings.IndexByte(",]}#\r\n=\"'[{", r.text[r.at]) < 0 {
		r.at++
	}
	if strings.TrimSpace(r.text[start:r.at]) == "" {
		return r.wrong("no value")
	}
	return nil
}

// long skips a string of several lines.
func (r *tomlReader) long(quotes string) error {
	r.at += 3
	for r.at < len(r.text) && !strings.HasPrefix(r.text[r.at:], quotes) {
		if quotes == `"""` && r.text[r.at] == '\\' {
			r.at++
		}
		r.at++
	}
	if r.at >= len(r.text) {
		return r.wrong("a string without its end")
	}
	r.at += 3
	// One or two quotes more belong to the string.
	for i := 0; i < 2 && r.at < len(r.text) && r.text[r.at] == quotes[0]; i++ {
		r.at++
	}
	return nil
}

// list skips what stands between brackets.
func (r *tomlReader) list(depth int, closing byte, item func(depth int) error) error {
	r.at++
	for {
		r.between()
		switch {
		case r.at >= len(r.text):
			return r.wrong("a bracket without its end")
		case r.text[r.at] == closing:
			r.at++
			return nil
		}
		if err := item(depth + 1); err != nil {
			return err
		}
		r.between()
		if r.at < len(r.text) && r.text[r.at] == ',' {
			r.at++
		} else if r.at < len(r.text) && r.text[r.at] != closing {
			return r.wrong("no comma")
		}
	}
}

// between skips white space, lines and comments inside brackets.
func (r *tomlReader) between() {
	for {
		r.skip(" \t\r\n")
		if r.at >= len(r.text) || r.text[r.at] != '#' {
			return
		}
		r.comment()
	}
}

func isUnder(key, prefix []string) bool {
	return len(key) >= len(prefix) && slices.Equal(key[:len(prefix)], prefix)
}
