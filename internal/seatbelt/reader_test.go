package seatbelt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// profile is a parsed profile, as Seatbelt would read it, for the part of its language that we
// use. It is independent of the writer.
type profile struct{ rules []sentence }

// sentence is one rule: it matches any of the operations with any of the filters, or always if
// it has no filter.
type sentence struct {
	allow      bool
	operations []string
	filters    []filter
}

type filter struct {
	kind string // literal, subpath, remote ip, target, sysctl-name, sysctl-name-prefix, global-name
	text string
}

// access is an attempt of a process.
type access struct {
	operation string
	path      string // of files, and of programs
	name      string // of sysctls, services, targets and addresses
}

// decide returns the decision of the last matching rule.
func (p profile) decide(a access) bool {
	allowed := false // a profile without a default is an error in readProfile
	for _, r := range p.rules {
		if r.matches(a) {
			allowed = r.allow
		}
	}
	return allowed
}

func (r sentence) matches(a access) bool {
	if !slices.ContainsFunc(r.operations, func(op string) bool {
		prefix, all := strings.CutSuffix(op, "*")
		return op == "default" || op == a.operation || all && strings.HasPrefix(a.operation, prefix)
	}) {
		return false
	}
	return len(r.filters) == 0 || slices.ContainsFunc(r.filters, func(f filter) bool { return f.matches(a) })
}

func (f filter) matches(a access) bool {
	switch f.kind {
	case "literal":
		return a.path == f.text
	case "subpath":
		return a.path == f.text || strings.HasPrefix(a.path, f.text+"/")
	case "sysctl-name-prefix":
		return strings.HasPrefix(a.name, f.text)
	default:
		return a.name == f.text
	}
}

// known lists the operations of Seatbelt that are used here. An unknown name makes sandbox-exec
// refuse the whole profile.
var known = strings.Fields("default file-read* file-read-data file-read-metadata file-test-existence file-map-executable " +
	"file-write* file-write-data process-exec* process-fork process-info* signal ipc-posix-sem sysctl-read mach-lookup " +
	"network* network-outbound system-socket")

// readProfile parses a profile strictly: anything unknown is an error.
func readProfile(text string) (profile, error) {
	list, err := parse(text)
	if err != nil {
		return profile{}, err
	}
	var p profile
	for i, item := range list {
		form, ok := item.([]any)
		if !ok || len(form) < 2 {
			return p, fmt.Errorf("form %d is %v", i, item)
		}
		if i == 0 {
			if fmt.Sprint(form) != "[version 1]" {
				return p, fmt.Errorf("it begins with %v", form)
			}
			continue
		}
		r, err := readRule(form)
		if err != nil {
			return p, fmt.Errorf("form %d: %w", i, err)
		}
		if i == 1 && (r.allow || !slices.Equal(r.operations, []string{"default"})) {
			return p, fmt.Errorf("the second form is %v", form)
		}
		if i > 1 && slices.Contains(r.operations, "default") {
			return p, fmt.Errorf("form %d is about everything", i)
		}
		p.rules = append(p.rules, r)
	}
	if len(p.rules) == 0 {
		return p, fmt.Errorf("there are no rules")
	}
	return p, nil
}

func readRule(form []any) (r sentence, err error) {
	switch form[0] {
	case symbol("allow"):
		r.allow = true
	case symbol("deny"):
	default:
		return r, fmt.Errorf("%v is no action", form[0])
	}
	for _, item := range form[1:] {
		switch item := item.(type) {
		case symbol:
			if !slices.Contains(known, string(item)) || len(r.filters) > 0 {
				return r, fmt.Errorf("%v is no operation, or stands behind a filter", item)
			}
			r.operations = append(r.operations, string(item))
		case []any:
			f, err := readFilter(item)
			if err != nil {
				return r, err
			}
			r.filters = append(r.filters, f)
		default:
			return r, fmt.Errorf("%v is neither an operation nor a filter", item)
		}
	}
	if len(r.operations) == 0 {
		return r, fmt.Errorf("there is no operation")
	}
	return r, nil
}

func readFilter(item []any) (filter, error) {
	words := make([]string, 0, len(item))
	var text string
	for i, word := range item {
		switch word := word.(type) {
		case symbol:
			words = append(words, string(word))
		case string:
			if i != len(item)-1 {
				return filter{}, fmt.Errorf("%v has a text in the middle", item)
			}
			text = word
		default:
			return filter{}, fmt.Errorf("%v has a list in it", item)
		}
	}
	switch kind := strings.Join(words, " "); kind {
	case "literal", "subpath", "sysctl-name", "sysctl-name-prefix", "global-name", "remote ip":
		if text == "" {
			return filter{}, fmt.Errorf("%v has no text", item)
		}
		return filter{kind, text}, nil
	case "target self", "target same-sandbox":
		return filter{"target", words[1]}, nil
	default:
		return filter{}, fmt.Errorf("%v is no filter", item)
	}
}

// symbol is a word without quotes.
type symbol string

// parse parses S-expressions: lists, strings and symbols, with comments to the end of a line.
func parse(text string) ([]any, error) {
	stack := [][]any{nil}
	add := func(v any) { stack[len(stack)-1] = append(stack[len(stack)-1], v) }
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == '\t':
			i++
		case c == ';':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return nil, fmt.Errorf("a comment without an end")
			}
			i += end
		case c == '(':
			stack = append(stack, []any{})
			i++
		case c == ')':
			if len(stack) == 1 {
				return nil, fmt.Errorf("a ) too many at %d", i)
			}
			done := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			add(done)
			i++
		case c == '"':
			value, n, err := parseString(text[i:])
			if err != nil {
				return nil, err
			}
			add(value)
			i += n
		default:
			end := strings.IndexAny(text[i:], " \n\t()\";")
			if end <= 0 {
				return nil, fmt.Errorf("a word without an end at %d", i)
			}
			add(symbol(text[i : i+end]))
			i += end
		}
	}
	if len(stack) != 1 {
		return nil, fmt.Errorf("%d ( too many", len(stack)-1)
	}
	return stack[0], nil
}

func parseString(text string) (value string, length int, err error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), i + 1, nil
		case '\\':
			if i++; i == len(text) || text[i] != '\\' && text[i] != '"' {
				return "", 0, fmt.Errorf("an escape that not every Scheme has: %s", strconv.Quote(text))
			}
		}
		b.WriteByte(text[i])
	}
	return "", 0, fmt.Errorf("a text without an end")
}
