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

// Form is a kind of YAML file. All kinds are read as strictly as a policy is.
type Form struct {
	// What is in such a file, as in "policy".
	What string
	// Least says what an empty file lacks.
	Least string
	// Examples are of what is right, by the names of keys.
	Examples map[string]string
	// Echoes says whether a problem with a field may be there only because cause could
	// not be read; nil means the field itself and what it is part of.
	Echoes func(field, cause string) bool
}

// Texts are a list in which one text stands for itself.
type Texts []string

// Read fills the struct that into points to from YAML, by its yaml tags, and has check
// judge what it says now. The problems of both are told at once, each with its line;
// those of check are policy.FieldErrors, joined. An element of a list is named by its
// place, as in "tokens[0].name".
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

// Contents reads a file of this form from f, never all of a device or a pipe that does
// not end: one byte more than allowed, so that Read can tell.
func (f Form) Contents(file *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%s file cannot be read: %w", f.What, err)
	}
	return data, nil
}

// Open opens a file of this form. What says what else than a file would do, for who names
// one that does not exist.
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

// example is of what is right for a field, by the last part of its path.
func (f Form) example(field string) string {
	key := field[strings.LastIndexByte(field, '.')+1:]
	key, _, _ = strings.Cut(key, "[")
	if limit, is := policy.LimitNamed(key); is {
		return limit.Key + ": " + limit.Text(limit.Default)
	}
	return f.Examples[key]
}

func (f Form) echoes(field, cause string) bool {
	if f.Echoes != nil {
		return f.Echoes(field, cause)
	}
	rest, below := strings.CutPrefix(field, cause)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// policies are the form of a policy.
func policies() Form {
	return Form{
		What: "policy", Examples: examples, Echoes: policy.Echoes,
		Least: fmt.Sprintf("write at least %q (the presets are %s)", "preset: default", presetNames()),
	}
}
