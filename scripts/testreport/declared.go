package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
)

// declaredTests reads from the sources which tests the packages have on this platform.
func declaredTests(ctx context.Context, patterns []string) ([]test, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...).Output()
	if err != nil {
		return nil, err
	}
	var tests []test
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return tests, nil
		} else if err != nil {
			return nil, err
		}
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, name := range testsIn(file) {
				tests = append(tests, test{p.ImportPath, name})
			}
		}
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz)([^a-z]|$)`)

func testsIn(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "TestMain" && testName.MatchString(f.Name.Name) {
			names = append(names, f.Name.Name)
		}
	}
	return names
}
