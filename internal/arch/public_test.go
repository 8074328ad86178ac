package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// public are the packages that programs of others import.
var public = []string{".", "policy", "run"}

// No program can change what another part of it relies on, and none needs a type that it
// cannot name.
func TestPublicPackages(t *testing.T) {
	for _, name := range public {
		files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", name, len(files), err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range publicProblems(t, path, string(source)) {
				t.Error(problem)
			}
		}
	}
}

func publicProblems(t *testing.T, path, source string) (found []string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	internal := map[string]bool{}
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if strings.Contains(imported+"/", "/internal/") {
			name := filepath.Base(imported)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			internal[name] = true
		}
	}
	report := func(at token.Pos, words string) { found = append(found, set.Position(at).String()+": "+words) }
	exposes := func(n ast.Node) {
		for _, use := range internalTypes(n, internal) {
			report(use.Pos(), "the API has "+use.X.(*ast.Ident).Name+"."+use.Sel.Name+", which others cannot name")
		}
	}
	for _, declared := range file.Decls {
		switch declared := declared.(type) {
		case *ast.FuncDecl:
			if declared.Name.IsExported() && (declared.Recv == nil || isExportedReceiver(declared)) {
				exposes(declared.Type)
			}
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if declared.Tok == token.VAR && name.IsExported() && !strings.HasPrefix(name.Name, "Err") {
							report(name.Pos(), name.Name+" can be set by everybody: make it a function or a constant")
						}
					}
					if spec.Type != nil && spec.Names[0].IsExported() {
						exposes(spec.Type)
					}
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						exposes(spec.Type)
					}
				}
			}
		}
	}
	return found
}

// internalTypes finds the internal types in a signature or type. Fields without an exported
// name are not part of it.
func internalTypes(n ast.Node, internal map[string]bool) (uses []*ast.SelectorExpr) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, field := range n.Fields.List {
				shown := len(field.Names) == 0
				for _, name := range field.Names {
					shown = shown || name.IsExported()
				}
				if shown {
					uses = append(uses, internalTypes(field.Type, internal)...)
				}
			}
			return false
		case *ast.SelectorExpr:
			if name, ok := n.X.(*ast.Ident); ok && internal[name.Name] {
				uses = append(uses, n)
			}
			return false
		}
		return true
	})
	return uses
}

func isExportedReceiver(f *ast.FuncDecl) bool {
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}

func TestPublicProblemsAreFound(t *testing.T) {
	const head = "package x\nimport \"github.com/cordon-sandbox/cordon/internal/backend\"\n"
	for source, want := range map[string]int{
		"var Limit = 3":                                   1,
		"var ErrBusy = 3; const Most = 4":                 0,
		"var limit backend.Job":                           0,
		"func Run(j backend.Job) {}":                      1,
		"func Run() []*backend.Job { return nil }":        1,
		"func run(j backend.Job) {}":                      0,
		"type T struct { Job backend.Job }":               1,
		"type T struct { backend.Job }":                   1,
		"type T struct { job backend.Job }":               0,
		"type T interface { Do(backend.Job) }":            1,
		"type t struct{}; func (t) Run(j backend.Job) {}": 0,
		"type T struct{}; func (T) Run(j backend.Job) {}": 1,
		"func Run() { var j backend.Job; _ = j }":         0,
	} {
		if got := publicProblems(t, "x.go", head+source); len(got) != want {
			t.Errorf("%s: %q", source, got)
		}
	}
}
