// Package policyfile reads and writes policies as YAML files, and reads other kinds of
// YAML files for other packages. No other package knows YAML; the policy package decides
// what a policy means.
//
// Parsing is strict, because a typing error in a policy is a hole in a wall: each problem
// is reported with its line and its correction, and all at once.
package policyfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// MaxSize bounds a file. Since nesting is bounded by the struct, it also bounds what
// aliases can expand to.
const MaxSize = 1 << 20

// maxValues bounds the expansion of aliases in a file with lists of lists.
const maxValues = 1 << 17

// Load reads a policy from a file.
func Load(path string) (policy.Policy, error) {
	form := policies()
	f, err := form.Open(path, fmt.Sprintf("name a YAML file, or a preset (%s) where one is accepted", presetNames()))
	if err != nil {
		return policy.Policy{}, err
	}
	defer f.Close()
	data, err := form.Contents(f)
	if err != nil {
		return policy.Policy{}, err
	}
	return Parse(path, data)
}

// Parse reads a policy from YAML. The name precedes line numbers in errors and becomes
// the policy's Name.
func Parse(name string, data []byte) (policy.Policy, error) {
	var doc policy.Document
	var p policy.Policy
	err := policies().Read(name, data, &doc, func() (err error) {
		p, err = doc.Policy()
		return err
	})
	if err != nil {
		return policy.Policy{}, err
	}
	p.Name = name
	return p, nil
}

// Format writes p with all defaults filled in. Parse returns the same as p.Resolved().
func Format(p policy.Policy) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, run.Wrap(run.Invalid, err)
	}
	var document yaml.Node
	if err := document.Encode(policy.FromPolicy(p)); err != nil {
		return nil, run.Errorf(run.Internal, "policy cannot be written as YAML: %w", err)
	}
	for i := 0; i+1 < len(document.Content); i += 2 {
		if key := document.Content[i].Value; key == "limits" || key == "maxima" {
			sortLimits(document.Content[i+1])
		}
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&document); err != nil {
		return nil, run.Errorf(run.Internal, "policy cannot be written as YAML: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, run.Errorf(run.Internal, "policy cannot be written as YAML: %w", err)
	}
	return b.Bytes(), nil
}

// sortLimits puts limits into the order of the table, where YAML has sorted their keys, and
// writes numbers as such.
func sortLimits(limits *yaml.Node) {
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(limits.Content); i += 2 {
		values[limits.Content[i].Value] = limits.Content[i+1]
	}
	limits.Content = nil
	for _, limit := range policy.LimitTable() {
		value, said := values[limit.Key]
		if !said {
			continue
		}
		if limit.Kind == policy.KindNumber {
			value.Tag, value.Style = "!!int", 0
		}
		limits.Content = append(limits.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: limit.Key}, value)
	}
}

// problem is one thing that is wrong, and where. Line 0 means the whole file.
type problem struct {
	line  int
	field string // empty if it is not about one field
	words string
}

func (p problem) String() string {
	if p.field == "" {
		return p.words
	}
	return p.field + ": " + p.words
}

// maxProblems is more than anyone reads before fixing the first ones.
const maxProblems = 50

// report joins the problems into one error, in the order of the file.
func report(name string, problems []problem) error {
	slices.SortStableFunc(problems, func(a, b problem) int { return a.line - b.line })
	var lines []string
	for i, p := range problems {
		switch {
		case i == maxProblems:
			lines = append(lines, fmt.Sprintf("%s: and %d more", name, len(problems)-i))
		case i > maxProblems:
		case p.line > 0:
			lines = append(lines, fmt.Sprintf("%s:%d: %s", name, p.line, p))
		default:
			lines = append(lines, fmt.Sprintf("%s: %s", name, p))
		}
	}
	return run.Errorf(run.Invalid, "%s", strings.Join(lines, "\n"))
}

func presetNames() string {
	var names []string
	for _, info := range policy.Presets() {
		names = append(names, info.Name)
	}
	return strings.Join(names, ", ")
}

// silent keeps a cause for errors.Is without its text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }
