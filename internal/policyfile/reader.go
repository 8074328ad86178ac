package policyfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
)

// reader fills a struct from YAML nodes and remembers the line of each field, for checks
// that only the owner of the struct can make. The YAML library's decoder would lose the
// lines, and accept 256 as a string.
type reader struct {
	form     Form
	problems []problem
	misread  []problem // those found before the owner's own checks
	lines    map[place]int
	left     int // how many more values are allowed
}

// place is a field, or one element of a list.
type place struct{ field, item string }

// examples are correct lines for fields with no value or a wrong one.
var examples = map[string]string{
	"v":      "v: 1",
	"":       "preset: default",
	"preset": "preset: default", "trust": "trust: user", "python": "python: /usr/bin/python3",
	"preload": "preload: [json, re]", "on_output_limit": "on_output_limit: truncate",
	"limits": "limits: {memory: 256MiB}", "maxima": "maxima: {memory: 1GiB}",
	"walls": "walls: {require: [landlock]}", "require": "require: [landlock]", "prefer": "prefer: [cgroup]",
	"language": "language: {modules: [heapq]}", "modules": "modules: [heapq]", "builtins": "builtins: [input]",
	"module_rules": "module_rules: {requests: {allow_net: [api.example.com]}}",
	"read":         "read: [/data/models]",
	"write":        "write: [/data/out]", "allow_net": "allow_net: [example.com]", "egress": "egress: strict", "jail": "jail: native",
	"allow_interpreters": "allow_interpreters: true", "dangerous_workspace": "dangerous_workspace: false", "deterministic": "deterministic: true", "python_wasm": "python_wasm: /opt/cordon/python-wasm.zip",
}

func (r *reader) add(line int, field, format string, args ...any) {
	r.problems = append(r.problems, problem{line, field, fmt.Sprintf(format, args...)})
}

// known are the tags of plain YAML.
var known = []string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp"}

// tagged refuses all others: a file is data, and does not construct objects.
func (r *reader) tagged(field string, line int, node *yaml.Node) bool {
	if slices.Contains(known, node.ShortTag()) {
		return false
	}
	r.add(line, field, "unknown tag %s: remove it", node.ShortTag())
	return true
}

// fill reads node into v, a field of the struct. It descends no deeper than the struct
// does, so an alias that contains itself ends as a wrong type.
func (r *reader) fill(field string, node *yaml.Node, v reflect.Value) {
	line := node.Line
	if !r.mayRead(line) {
		return
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if r.tagged(field, line, node) {
		return
	}
	if node.Kind == yaml.ScalarNode && (node.ShortTag() == "!!null" || node.Value == "") {
		r.add(line, field, "has no value: write %q, or leave the line out", r.form.example(field))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		r.fillStruct(field, line, node, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(field, node, v.Elem())
	case reflect.Slice:
		r.fillList(field, line, node, v)
	case reflect.Int:
		n, err := strconv.Atoi(node.Value)
		if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!int" || err != nil {
			r.add(line, field, "expected a whole number, got %s: write %q", kindOf(node), r.form.example(field))
			return
		}
		v.SetInt(int64(n))
	case reflect.Map:
		if v.Type() == reflect.TypeFor[policy.DocumentLimits]() {
			r.fillLimits(field, line, node, v)
		} else {
			r.fillMap(field, line, node, v)
		}
	case reflect.Bool:
		if node.Kind != yaml.ScalarNode || node.Value != "true" && node.Value != "false" {
			r.add(line, field, "expected true or false, got %s: write %q", kindOf(node), r.form.example(field))
			return
		}
		v.SetBool(node.Value == "true")
	case reflect.String:
		if text, ok := r.text(field, line, node); ok {
			v.SetString(text)
		}
	}
}

func (r *reader) fillStruct(field string, line int, node *yaml.Node, v reflect.Value) {
	var names []string
	for f := range v.Type().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		names = append(names, name)
	}
	r.eachKey(field, line, node, names, func(path string, i int, value *yaml.Node) {
		r.fill(path, value, v.Field(i))
	})
}

// fillLimits reads limits by their keys. It only tells numbers from text: the policy
// package reads the amounts.
func (r *reader) fillLimits(field string, line int, node *yaml.Node, v reflect.Value) {
	var keys []string
	rows := policy.LimitTable()
	for _, row := range rows {
		keys = append(keys, row.Key)
	}
	limits := policy.DocumentLimits{}
	r.eachKey(field, line, node, keys, func(path string, i int, value *yaml.Node) {
		amount := reflect.New(reflect.TypeFor[string]()).Elem()
		if rows[i].Kind == policy.KindNumber {
			amount = reflect.New(reflect.TypeFor[int]()).Elem()
		}
		before := len(r.problems)
		if r.fill(path, value, amount); len(r.problems) == before && r.left >= 0 {
			limits[keys[i]] = fmt.Sprint(amount)
		}
	})
	v.Set(reflect.ValueOf(limits))
}

// fillMap reads structs by keys of the author's choice.
func (r *reader) fillMap(field string, line int, node *yaml.Node, v reflect.Value) {
	var names []string
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		names = append(names, node.Content[i].Value)
	}
	made := reflect.MakeMap(v.Type())
	r.eachKey(field, line, node, names, func(path string, i int, value *yaml.Node) {
		element := reflect.New(v.Type().Elem()).Elem()
		r.fill(path, value, element)
		made.SetMapIndex(reflect.ValueOf(names[i]), element)
	})
	v.Set(made)
}

// eachKey calls read for each key of a mapping that is one of names, once.
func (r *reader) eachKey(field string, line int, node *yaml.Node, names []string, read func(path string, i int, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		r.add(line, field, "expected keys and values, got %s: write %q", kindOf(node), r.form.example(field))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := key.Value
		known := slices.Index(names, name)
		path := strings.TrimPrefix(field+"."+name, ".")
		switch {
		case key.Kind != yaml.ScalarNode:
			r.add(key.Line, field, "a key cannot be %s: the keys here are %s", kindOf(key), strings.Join(names, ", "))
		case known < 0:
			// The message is the key's own, not its parent's, so that it
			// hides nothing else that is wrong beside it.
			r.add(key.Line, shorten(path), "unknown key: the keys here are %s", strings.Join(names, ", "))
		case first[name] > 0:
			r.add(key.Line, path, "duplicate key: it is already in line %d", first[name])
		default:
			first[name] = key.Line
			r.lines[place{path, ""}] = value.Line
			read(path, known, value)
		}
	}
}

// mayRead counts a value, and reports once if there are too many.
func (r *reader) mayRead(line int) bool {
	r.left--
	if r.left == -1 {
		r.add(line, "", "aliases expand to more than %d values: use fewer", maxValues)
	}
	return r.left >= 0
}

func (r *reader) fillList(field string, line int, node *yaml.Node, v reflect.Value) {
	if v.Type() == reflect.TypeFor[Texts]() && node.Kind == yaml.ScalarNode {
		if text, ok := r.text(field, line, node); ok {
			v.Set(reflect.ValueOf(Texts{text}))
		}
		return
	}
	if node.Kind != yaml.SequenceNode {
		r.add(line, field, "expected a list, got %s: write %q", kindOf(node), r.form.example(field))
		return
	}
	if v.Type().Elem().Kind() == reflect.Struct {
		r.fillStructs(field, node, v)
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, min(len(node.Content), max(r.left, 0)))
	for _, item := range node.Content {
		line := item.Line
		if !r.mayRead(line) {
			return
		}
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if text, ok := r.text(field, line, item); ok {
			if _, known := r.lines[place{field, text}]; !known {
				r.lines[place{field, text}] = line
			}
			list = reflect.Append(list, reflect.ValueOf(text))
		}
	}
	v.Set(list)
}

// fillStructs keeps an index for each element, including unreadable ones, so that
// problems from check get the right lines.
func (r *reader) fillStructs(field string, node *yaml.Node, v reflect.Value) {
	list := reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content))
	for i, item := range node.Content {
		path := fmt.Sprintf("%s[%d]", field, i)
		r.lines[place{path, ""}] = item.Line
		r.fill(path, item, list.Index(i))
	}
	v.Set(list)
}

// text reads a scalar as text. Numbers pass as written: the parser of the unit has the
// better message for a bare 256.
func (r *reader) text(field string, line int, node *yaml.Node) (string, bool) {
	if r.tagged(field, line, node) {
		return "", false
	}
	if node.Kind != yaml.ScalarNode || node.Value == "" || slices.Contains([]string{"!!bool", "!!null"}, node.ShortTag()) {
		r.add(line, field, "expected text, got %s: write %q", kindOf(node), r.form.example(field))
		return "", false
	}
	return node.Value, true
}

// locate adds lines to the problems that check found.
func (r *reader) locate(err error) {
	switch e := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, each := range e.Unwrap() {
			r.locate(each)
		}
	case *policy.FieldError:
		echo := func(p problem) bool { return p.field != "" && r.form.echoes(e.Field, p.field) }
		if !slices.ContainsFunc(r.misread, echo) {
			r.add(r.line(e), e.Field, "%v", e.Err)
		}
	default:
		r.add(0, "", "%s", err.Error())
	}
}

// line finds the nearest thing in the file: a default above a maximum may only come from
// its group or its preset.
func (r *reader) line(e *policy.FieldError) int {
	_, name, _ := strings.Cut(e.Field, ".")
	near := []place{{e.Field, e.Item}, {e.Field, ""}, {"maxima." + name, ""}}
	for parent := e.Field; strings.Contains(parent, "."); {
		parent = parent[:strings.LastIndexByte(parent, '.')]
		near = append(near, place{parent, ""})
	}
	for _, p := range append(near, place{"preset", ""}) {
		if line, ok := r.lines[p]; ok {
			return line
		}
	}
	return 1
}

// shorten keeps messages readable when a value is a whole file.
func shorten(s string) string { return text.Shorten(s, 60) }

func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch node.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + node.Value
	case "!!int", "!!float":
		return "the number " + shorten(node.Value)
	}
	return "the text " + text.Quote(node.Value)
}
