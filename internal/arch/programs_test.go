package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// toolchain are programs and helpers of tests that only developers run.
var toolchain = []string{"bench/", "compat/", "internal/confine/gen/", "internal/hosttest/", "internal/seccomp/gen/", "internal/zygote/gen/", "scripts/testreport/"}

// TestProgramsAreFoundInOnePlace finds searches along PATH, which may find a program that a
// guest has put into its workspace. internal/hostpath skips those; os/exec does not, even
// in exec.Command("bwrap"), which searches implicitly.
func TestProgramsAreFoundInOnePlace(t *testing.T) {
	const why = "a guest may have put it there: hostpath.FindProgram passes over what guests could write"
	sources(t, ".go", func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") || path.Dir(name) == "internal/hostpath" {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if isName(n.X, "exec") && n.Sel.Name == "LookPath" {
					t.Errorf("%s calls exec.LookPath: %s", name, why)
				}
			case *ast.CallExpr:
				if program, ok := searchedProgram(n); ok && !belowAny(name, toolchain) {
					t.Errorf("%s starts %q by its name: %s", name, program, why)
				}
			}
			return true
		})
	})
}

// searchedProgram returns the program of exec.Command or exec.CommandContext if it is a name
// that they would search for.
func searchedProgram(call *ast.CallExpr) (program string, searched bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !isName(f.X, "exec") {
		return "", false
	}
	at := map[string]int{"Command": 0, "CommandContext": 1}
	n, ok := at[f.Sel.Name]
	if !ok || len(call.Args) <= n {
		return "", false
	}
	literal, ok := call.Args[n].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	program, err := strconv.Unquote(literal.Value)
	return program, err == nil && !strings.Contains(program, "/")
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func belowAny(name string, dirs []string) bool {
	for _, dir := range dirs {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}
