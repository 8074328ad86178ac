package mcpclient

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// merge sets the keys of the table [key.name], and appends one if there is none.
func (tomlFile) merge(text []byte, key, name string, entry, _ []field) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	table := []string{key, name}
	there, err := findTable(text, table)
	if err != nil {
		return nil, err
	}
	if !there {
		head := "[" + tomlKey(key) + "." + tomlKey(name) + "]" + newline
		if kept := bytes.TrimRight(text, " \t\r\n"); len(kept) > 0 {
			head = string(kept) + newline + newline + head
		}
		text = []byte(head)
	}
	for _, gone := range rivals(entry) {
		if text, err = dropKey(text, table, gone); err != nil {
			return nil, err
		}
	}
	for _, f := range entry {
		if fields, nested := f.value.([]field); nested {
			text, err = mergeNested(text, append(slices.Clone(table), f.name), fields, newline)
		} else {
			text, err = setKey(text, table, f, newline)
		}
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}

// mergeNested sets keys of a table in a table, in whichever of the two ways it is
// written: with a head of its own, or in braces.
func mergeNested(text []byte, table []string, fields []field, newline string) ([]byte, error) {
	lines, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	outer, name := table[:len(table)-1], table[len(table)-1]
	for _, l := range lines {
		switch {
		case l.isTable && slices.Equal(l.key, table):
			for _, f := range fields {
				if text, err = setKey(text, table, f, newline); err != nil {
					return nil, err
				}
			}
			return text, nil
		case !l.isTable && slices.Equal(l.table, outer) && slices.Equal(l.key, []string{name}) && text[l.valueFrom] == '{':
			braces, err := mergeBraces(string(text[l.valueFrom:l.valueTo]), fields)
			if err != nil {
				return nil, err
			}
			return slices.Concat(text[:l.valueFrom], []byte(braces), text[l.valueTo:]), nil
		}
	}
	return setKey(text, outer, field{name, fields}, newline)
}

// mergeBraces sets keys of a table that is written as { a = 1, b = 2 }.
func mergeBraces(text string, fields []field) (string, error) {
	for _, f := range fields {
		r, made := &tomlReader{text: text, at: 1}, tomlText(f.value)
		found, last := false, 1 // behind the last value
		for r.between(); !found && r.at < len(r.text) && r.text[r.at] != '}'; r.between() {
			var l tomlLine
			if err := r.pair(&l); err != nil {
				return "", err
			}
			l.valueTo = l.valueFrom + len(strings.TrimRight(text[l.valueFrom:l.valueTo], " \t\r\n"))
			last = l.valueTo
			if found = slices.Equal(l.key, []string{f.name}); found {
				text = text[:l.valueFrom] + made + text[l.valueTo:]
			} else if l.key[0] == f.name {
				return "", fmt.Errorf("it has the dotted key %s in braces", strings.Join(l.key, "."))
			}
			if r.between(); r.at < len(r.text) && r.text[r.at] == ',' {
				r.at++
			}
		}
		switch pair := tomlKey(f.name) + " = " + made; {
		case found:
		case last == 1:
			text = "{ " + pair + " }"
		default:
			text = text[:last] + ", " + pair + text[last:]
		}
	}
	return text, nil
}

// findTable says whether a table has its head in a file. What is written in another of
// TOML's ways is refused: to change it would need more than cordon knows of TOML.
func findTable(text []byte, table []string) (there bool, err error) {
	lines, err := parseTOML(text)
	if err != nil {
		return false, err
	}
	for _, l := range lines {
		full := slices.Concat(l.table, l.key)
		switch {
		case l.isTable && slices.Equal(l.key, table):
			if l.isArray || there {
				return false, fmt.Errorf("it has [%s] more than once", strings.Join(table, "."))
			}
			there = true
		case l.isTable && l.isArray && isUnder(table, l.key):
			return false, fmt.Errorf("it has [[%s]], a list of tables", strings.Join(l.key, "."))
		case !l.isTable && !slices.Equal(l.table, table) && !isUnder(l.table, table) && (isUnder(full, table) || isUnder(table, full)):
			return false, fmt.Errorf("it has %s outside of a table [%s]", strings.Join(full, "."), strings.Join(table, "."))
		}
	}
	return there, nil
}

// setKey gives a key of a table its value.
func setKey(text []byte, table []string, f field, newline string) ([]byte, error) {
	lines, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	made, last := tomlText(f.value), 0
	for _, l := range lines {
		switch {
		case l.isTable && slices.Equal(l.key, table):
			last = l.end
		case l.isTable || !slices.Equal(l.table, table):
		case len(l.key) > 1 && l.key[0] == f.name:
			return nil, fmt.Errorf("it has the dotted key %s in [%s]", strings.Join(l.key, "."), strings.Join(table, "."))
		case l.key[0] == f.name:
			old := strings.TrimRight(string(text[l.valueFrom:l.valueTo]), " \t")
			return slices.Concat(text[:l.valueFrom], []byte(made), text[l.valueFrom+len(old):]), nil
		default:
			last = l.end
		}
	}
	line := tomlKey(f.name) + " = " + made + newline
	if last > 0 && text[last-1] != '\n' {
		line = newline + line
	}
	return slices.Concat(text[:last], []byte(line), text[last:]), nil
}

// dropKey takes a key out of a table, if it is there.
func dropKey(text []byte, table []string, name string) ([]byte, error) {
	lines, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	sub := append(slices.Clone(table), name)
	for _, l := range lines {
		switch {
		case l.isTable && isUnder(l.key, sub):
			return nil, fmt.Errorf("it has [%s], which does not go with the new way to reach the server: take it out", strings.Join(l.key, "."))
		case !l.isTable && slices.Equal(l.table, table) && l.key[0] == name:
			return dropKey(slices.Concat(text[:l.start], text[l.end:]), table, name)
		}
	}
	return text, nil
}

func tomlKey(name string) string {
	if isPlain(name) {
		return name
	}
	return tomlText(name)
}

func tomlText(value any) string {
	switch v := value.(type) {
	case []field:
		var items []string
		for _, f := range v {
			items = append(items, tomlKey(f.name)+" = "+tomlText(f.value))
		}
		return "{ " + strings.Join(items, ", ") + " }"
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, tomlText(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return tomlString(v)
	}
	return `""` // a field holds nothing else
}

// tomlString writes a basic string: TOML knows fewer escapes than Go.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
