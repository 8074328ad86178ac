package mcpserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// arguments are the arguments of one call, checked against the schema of its tool.
type arguments struct {
	texts   map[string]string
	numbers map[string]float64
	lists   map[string][]string
}

// parseArguments checks the arguments of a call. Its errors are for a model: they describe
// a correct call.
func parseArguments(raw json.RawMessage, s schema) (arguments, error) {
	a := arguments{texts: map[string]string{}, numbers: map[string]float64{}, lists: map[string][]string{}}
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		if err := json.Unmarshal(raw, &given); err != nil {
			return a, run.Errorf(run.Invalid, "arguments are %s: give an object with %s", kindOf(raw), names(s))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		name := key
		if _, ok := s.Properties["variables"]; ok && key == "inspect_variables" {
			name = "variables" // the name in py-sandbox-mcp and in what was written for it
		}
		property, known := s.Properties[name]
		if !known {
			return a, run.Errorf(run.Invalid, "there is no argument %q: give %s", key, names(s))
		}
		// Some models send null for an argument that they leave out.
		if bytes.Equal(given[key], []byte("null")) {
			delete(given, key)
			continue
		}
		if err := a.set(name, given[key], property); err != nil {
			return a, err
		}
	}
	for _, name := range s.Required {
		if _, there := given[name]; !there {
			return a, run.Errorf(run.Invalid, "%s is missing: %s", name, s.Properties[name].Description)
		}
	}
	return a, nil
}

// set checks one argument and stores it.
func (a arguments) set(name string, raw json.RawMessage, s schema) error {
	switch s.Type {
	case "string":
		var value string
		if err := json.Unmarshal(raw, &value); err != nil {
			return run.Errorf(run.Invalid, "%s is %s: give a string", name, kindOf(raw))
		}
		if s.form != nil && !s.form.MatchString(value) {
			return run.Errorf(run.Invalid, "%s is %s: give %s", name, text.Quote(value), s.formWords)
		}
		a.texts[name] = value
	case "array":
		var values []*string
		if err := json.Unmarshal(raw, &values); err != nil || slices.Contains(values, nil) {
			return run.Errorf(run.Invalid, "%s is %s: give a list of strings, such as [\"x\"]", name, kindOf(raw))
		}
		if len(values) < s.MinItems {
			return run.Errorf(run.Invalid, "%s is empty: %s", name, s.Description)
		}
		for _, v := range values {
			a.lists[name] = append(a.lists[name], *v)
		}
	case "number", "integer":
		var value float64
		if err := json.Unmarshal(raw, &value); err != nil {
			return run.Errorf(run.Invalid, "%s is %s: give a number of %s, such as %v", name, kindOf(raw), s.unit, cmp.Or[any](s.Default, *s.Minimum))
		}
		if value < *s.Minimum || value > *s.Maximum || s.Type == "integer" && value != math.Trunc(value) {
			return run.Errorf(run.Invalid, "%s is %s: give a %s of %s from %s to %s",
				name, decimal(value), map[string]string{"number": "number", "integer": "whole number"}[s.Type], s.unit, decimal(*s.Minimum), decimal(*s.Maximum))
		}
		a.numbers[name] = value
	}
	return nil
}

// names lists the arguments of a tool, the required ones first.
func names(s schema) string {
	if len(s.Properties) == 0 {
		return "no arguments"
	}
	all := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			all = append(all, name+" (optional)")
		}
	}
	return strings.Join(all, ", ")
}

// kindOf describes a JSON value by its type, because the value itself may be long.
func kindOf(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || !json.Valid(raw):
		return "not valid JSON"
	case raw[0] == '"':
		return "a string"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	case raw[0] == 't' || raw[0] == 'f':
		return "a boolean"
	case raw[0] == 'n':
		return "null"
	}
	return fmt.Sprintf("the number %.20s", raw)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
