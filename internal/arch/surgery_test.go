package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// surgeryAllowed are the functions that take error texts apart, and why. None of them does so
// with our own texts: an error that code has to understand is a type with fields.
var surgeryAllowed = map[string]string{
	// Texts of other projects, which have no codes.
	"internal/jsonform.isWord":                    "encoding/json distinguishes its syntax errors only by their text",
	"internal/jsonform.ExplainSyntax":             "encoding/json distinguishes its syntax errors only by their text",
	"internal/jsonform.explainJSON":               "encoding/json distinguishes its syntax errors only by their text",
	"internal/policyfile.explain":                 "the YAML library gives the line of a syntax error only in its text",
	"internal/mcpclient.parseJSON":                "hujson names itself in each message",
	"internal/backend/wasm/engine.Engine.compile": "wazero distinguishes an invalid module from a broken cache only by the text",
	"internal/backend/wasm/engine.FirstLine":      "wazero appends a stack trace of its own code",
	"cmd/cordon.missingNames":                     "Python's exceptions name a missing file only in their text",
}

// editing are the functions of strings and bytes that inspect or change a text.
var editing = []string{
	"Replace", "Cut", "Trim", "Split", "Contains", "HasPrefix", "HasSuffix", "Index", "LastIndex", "Fields", "NewReplacer",
	"Find", "Match", "ToLower", "ToUpper",
}

// messages are the fields whose text is for readers.
var messages = []string{"Error", "Message", "Hint", "Reason", "Remedy"}

// Errors and hints are typed or coded. No code reads or edits their text: otherwise the
// wording could not change, and would be wrong for another frontend.
func TestNoSurgeryOnMessages(t *testing.T) {
	used := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == ".cache" || path == ".git" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || isTestPackage(path) {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, root+"/"+path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			at := surgeries(declared)
			if len(at) == 0 {
				continue
			}
			name := directory(path) + "." + nameOf(declared)
			if _, allowed := surgeryAllowed[name]; allowed {
				used[name] = true
				continue
			}
			for _, pos := range at {
				t.Errorf("%s: %s takes a message apart: give the error a type with fields, or the hint a code", set.Position(pos), name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range surgeryAllowed {
		if !used[name] {
			t.Errorf("%s takes no message apart: remove it from the list", name)
		}
	}
}

// surgeries finds the calls that edit a message.
func surgeries(declared ast.Decl) (at []token.Pos) {
	tainted := map[string]bool{}
	ast.Inspect(declared, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, right := range n.Rhs {
				if name, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); ok && isMessage(right, tainted) {
					tainted[name.Name] = true
				}
			}
		case *ast.CallExpr:
			called, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || !slices.ContainsFunc(editing, func(e string) bool { return strings.HasPrefix(called.Sel.Name, e) }) {
				return true
			}
			if slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return isMessage(arg, tainted) }) {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}

// isMessage reports an expression that is, or contains, the text of an error.
func isMessage(e ast.Expr, tainted map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return tainted[e.Name]
	case *ast.SelectorExpr:
		return slices.Contains(messages, e.Sel.Name)
	case *ast.BinaryExpr:
		return isMessage(e.X, tainted) || isMessage(e.Y, tainted)
	case *ast.ParenExpr:
		return isMessage(e.X, tainted)
	case *ast.CallExpr:
		called, ok := e.Fun.(*ast.SelectorExpr)
		return ok && called.Sel.Name == "Error" && len(e.Args) == 0
	}
	return false
}

func nameOf(declared ast.Decl) string {
	function, ok := declared.(*ast.FuncDecl)
	if !ok {
		return "var"
	}
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + function.Name.Name
	}
	return function.Name.Name
}

func directory(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return "."
}

// isTestPackage reports a file of a package for tests, which may expect any words.
func isTestPackage(path string) bool {
	for _, name := range []string{"internal/backend/backendtest/", "internal/cli/clitest/", "internal/hosttest/", "internal/attack/", "bench/", "compat/", "scripts/"} {
		if strings.HasPrefix(path, name) {
			return true
		}
	}
	return false
}

// The check finds what it is for.
func TestSurgeryIsFound(t *testing.T) {
	for source, want := range map[string]int{
		`strings.Replace(err.Error(), "a", "b", 1)`:              1,
		`words := err.Error(); strings.Contains(words, "a")`:     1,
		`rule, detail, _ := strings.Cut(x.Message, ": ")`:        1,
		`strings.TrimPrefix("a: " + res.Error, "a: ")`:           1,
		`pattern.FindString(v.Hint)`:                             1,
		`names.Replace(err.Error())`:                             1,
		`fmt.Errorf("a: %w", err); strings.Contains(path, "a")`:  0,
		`strings.Join([]string{err.Error()}, "\n")`:              0,
		`log.Error("a"); strings.TrimSpace(text.Line(res.Name))`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+source+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if at := surgeries(file.Decls[0]); len(at) != want {
			t.Errorf("%s: %d", source, len(at))
		}
	}
}
