package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// variables are the exported variables that public packages may have, and why setting one
// cannot weaken a wall.
var variables = map[string]string{}

// Any code in a program can set an exported variable of any package, in an init that nobody
// reads: policy.DefaultRequired = nil removed the default walls of every Runner of the
// program. So public packages export constants, and functions that return a new value.
func TestNoExportedVariables(t *testing.T) {
	seen := 0
	for _, dir := range []string{".", "policy", "run"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			for _, variable := range exportedVariables(file) {
				full := file.Name.Name + "." + variable
				if variables[full] == "" {
					t.Errorf("%s is a variable that any package can set: make it a constant, or a function that returns a copy", full)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("found only %d files: the walk is wrong", seen)
	}
}

func exportedVariables(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		if general, ok := decl.(*ast.GenDecl); ok && general.Tok == token.VAR {
			for _, spec := range general.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// The test above must find exported variables.
func TestExportedVariablesAreSeen(t *testing.T) {
	const text = "package p\n\nvar Plain = 1\n\nvar (\n\tList, hidden = []int{1}, 2\n\tErr error\n)\n\nconst Fixed = 1\n\nfunc F() { var Local int; _ = Local }\n"
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(exportedVariables(file), " "); got != "Plain List Err" {
		t.Errorf("saw %q", got)
	}
}
