package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// validators are the functions of the root package that validate requests, each once.
// Frontends parse and translate; the service checks permits.
var validators = []string{"Check", "OpenHook", "admit"}

// otherValidators call a Validate that is not a request's.
var otherValidators = map[string]string{
	"cmd/cordon/doctor.go":              "a policy, before a host is compared with it",
	"cmd/cordon/policy.go":              "a policy: that is the purpose of the command",
	"internal/jsonlines/order.go":       "the two forms of a call, for which the Runner has two methods",
	"internal/policyfile/policyfile.go": "a policy, to report its errors with their lines",
	"internal/seccomp/compile":          "rules of a filter",
	"internal/service/hooks.go":         "the two forms of a call, for which the Runner has two methods",
	"runner.go: NewRunnerContext":       "a policy that a program created",
}

// A request is validated once, by the Runner, whichever frontend it came through.
func TestRequestsAreValidatedOnce(t *testing.T) {
	var found []string
	used := map[string]bool{}
	sources(t, ".go", func(name string, source []byte) {
		if strings.HasSuffix(name, "_test.go") || !strings.Contains(string(source), ".Validate(") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for _, declared := range file.Decls {
			ast.Inspect(declared, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if selected, ok := call.Fun.(*ast.SelectorExpr); !ok || selected.Sel.Name != "Validate" {
					return true
				}
				function, ok := declared.(*ast.FuncDecl)
				if !ok {
					t.Errorf("%s validates outside a function", name)
					return true
				}
				for _, exception := range []string{name, path.Dir(name), name + ": " + function.Name.Name} {
					if otherValidators[exception] != "" {
						used[exception] = true
						return true
					}
				}
				if path.Dir(name) != "." {
					t.Errorf("%s calls Validate: the Runner validates requests", name)
					return true
				}
				found = append(found, function.Name.Name)
				return true
			})
		}
	})
	if slices.Sort(found); !slices.Equal(found, validators) {
		t.Errorf("the Runner validates in %v, not once in each of %v", found, validators)
	}
	for name := range otherValidators {
		if !used[name] {
			t.Errorf("%s is an exception and needs none", name)
		}
	}
}
