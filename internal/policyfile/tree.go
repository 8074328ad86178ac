package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parseTree reads exactly one YAML document.
func (f Form) parseTree(data []byte) (*yaml.Node, *problem) {
	if p := f.checkText(data); p != nil {
		return nil, p
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF) || err == nil && isNothing(&doc):
		return nil, &problem{line: 1, words: "says nothing: " + f.Least}
	case err != nil:
		return nil, explain(data, err)
	}
	err = d.Decode(&second)
	switch {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, explain(data, err)
	}
	return nil, &problem{line: second.Line, words: fmt.Sprintf("a second document begins here: a %s file has only one, so remove the --- and the document that you do not need", f.What)}
}

func isNothing(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].ShortTag() == "!!null"
}

// checkText refuses bytes that are not text before the YAML library does, whose messages
// name a byte and not a line.
func (f Form) checkText(data []byte) *problem {
	if len(data) > MaxSize {
		return &problem{words: fmt.Sprintf("is larger than %d bytes: is it a %s file?", MaxSize, f.What)}
	}
	line := 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == '\n':
			line++
		case c == utf8.RuneError && size <= 1:
			return &problem{line: line, words: fmt.Sprintf("byte %#02x is not valid UTF-8: save the file as UTF-8", data[i])}
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f:
			return &problem{line: line, words: fmt.Sprintf("has the control character %#02x: a %s file is plain text", c, f.What)}
		}
		i += size
	}
	return nil
}

// Compiled only to explain an error: cordon starts often and must not pay for them.
var (
	yamlLine      = pattern(`^yaml: (?:line (\d+): )?`)
	unknownAnchor = pattern(`unknown anchor '([^']*)'`)
	// Messages of the library's parser, as opposed to its scanner.
	fromParser = pattern(`did not find expected (<|key|node content|'-'|',')|tag handle|YAML d`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// explain turns a syntax error of the YAML library into a line and a message. The library
// counts lines from 0 in its parser and from 1 in its scanner, can point behind the last
// line, and does not mention tabs.
func explain(data []byte, err error) *problem {
	words := err.Error()
	line := 1
	if m := yamlLine().FindStringSubmatch(words); m != nil {
		words = words[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
			if fromParser().MatchString(words) {
				line++
			}
		}
	}
	line = min(line, 1+strings.Count(strings.TrimSpace(string(data)), "\n"))
	for i, text := range strings.Split(string(data), "\n") {
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if strings.Contains(indent, "\t") {
			return &problem{line: i + 1, words: "is indented with a tab: use spaces"}
		}
		if m := unknownAnchor().FindStringSubmatch(words); m != nil && strings.Contains(text, "*"+m[1]) {
			return &problem{line: i + 1, words: fmt.Sprintf("unknown alias *%s: no &%s precedes it", m[1], m[1])}
		}
	}
	return &problem{line: line, words: "is not valid YAML, here or shortly after: " + words}
}
