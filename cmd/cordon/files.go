package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/run"
)

// fileOptions name the files that a script or a session finds in /work.
type fileOptions struct{ files []string }

// addTo adds the flag; guest is what gets the files.
func (o *fileOptions) addTo(f *pflag.FlagSet, guest string) {
	f.StringArrayVar(&o.files, "file", nil, "a file that "+guest+" finds in its current directory, under its relative path or NAME: `[NAME=]PATH` (repeatable)")
}

// given returns the files with their names, and checks both.
func (o *fileOptions) given() ([]run.File, error) {
	var all []run.File
	paths := map[string]string{}
	for _, text := range o.files {
		name, path, named := strings.Cut(text, "=")
		if !named {
			name, path = nameInWork(text), text
		}
		f, err := workdir.OpenFile(path)
		if err != nil {
			return nil, run.Errorf(run.ClassOf(err), "--file: %w", err)
		}
		f.Close()
		if err := filenames.Check(name); err != nil {
			return nil, run.Errorf(run.Invalid, "--file: %w", err)
		}
		if other, taken := paths[name]; taken {
			return nil, run.Errorf(run.Invalid, "--file: %s and %s would both be %s: give one another name, as in --file NAME=%[2]s", other, path, name)
		}
		paths[name] = path
		all = append(all, run.File{Name: name, Path: path})
	}
	return all, nil
}

// nameInWork returns the name of a host's file in /work, if the user gives none.
func nameInWork(path string) string {
	if clean := filepath.Clean(path); filepath.IsLocal(clean) {
		return filepath.ToSlash(clean)
	}
	return filepath.Base(path)
}
