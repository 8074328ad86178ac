package policyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Form is a kind of YAML file. All kinds are parsed as strictly as a policy.
type Form struct {
	// What names the kind, as in "policy".
	What string
	// Least says what to write into an empty file.
	Least string
	// Examples are correct lines, by key.
	Examples map[string]string
	// Echoes reports whether a problem with field may only exist because cause could not
	// be read; nil means the field itself and its parents.
	Echoes func(field, cause string) bool
}

// Texts is a list that may be written as a single text.
type Texts []string

// Read fills the struct that into points to from YAML, by its yaml tags, and then calls
// check on it. It returns all problems of both at once, each with its line; those of
// check are policy.FieldErrors, joined. Elements of lists are named by their index, as in
// "tokens[0].name".
func (f Form) Read(name string, data []byte, into any, check func() error) error {
	root, err := f.parseTree(data)
	if err != nil {
		return report(name, []problem{*err})
	}
	r := reader{form: f, lines: map[place]int{}, left: maxValues}
	r.fill("", root, reflect.ValueOf(into).Elem())
	wrong := check()
	r.misread = slices.Clone(r.problems)
	r.locate(wrong)
	if len(r.problems) > 0 {
		return report(name, r.problems)
	}
	return nil
}

// Contents reads a file of this form. It reads at most one byte more than allowed, so
// that a device or pipe without end is refused by Read.
func (f Form) Contents(file *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%s file cannot be read: %w", f.What, err)
	}
	return data, nil
}

// Open opens a file of this form. If it does not exist, the error suggests what.
func (f Form) Open(path, what string) (*os.File, error) {
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, run.Errorf(run.Invalid, "%s file %s does not exist: %s%w", f.What, path, what, silent{err})
	case err != nil:
		return nil, run.Errorf(run.Invalid, "%s file cannot be opened: %w", f.What, err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, run.Errorf(run.Invalid, "%s is a directory: name a %s file in it", path, f.What)
	}
	return file, nil
}

// example returns a correct line for a field, by the last part of its path that is a key of
// ours: an author chooses the names of module rules.
func (f Form) example(field string) string {
	last := strings.LastIndexByte(field, '.')
	key, _, _ := strings.Cut(field[last+1:], "[")
	if limit, is := policy.LimitNamed(key); is {
		return limit.Key + ": " + limit.Text(limit.Default)
	}
	if example, has := f.Examples[key]; has || last < 0 {
		return example
	}
	return f.example(field[:last])
}

func (f Form) echoes(field, cause string) bool {
	if f.Echoes != nil {
		return f.Echoes(field, cause)
	}
	rest, below := strings.CutPrefix(field, cause)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// policies returns the form of a policy.
func policies() Form {
	return Form{
		What: "policy", Examples: examples, Echoes: policy.Echoes,
		Least: fmt.Sprintf("write at least %q (the presets are %s)", "preset: default", presetNames()),
	}
}
