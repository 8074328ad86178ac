package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// creators are the files that may create files directly, and why. A path that ends in /
// includes everything below it.
var creators = map[string]string{
	"internal/newfile/newfile.go":     "it is the one place",
	"internal/attack/":                "canaries, in a directory that was made for them",
	"internal/audit/":                 "a log is appended to; its own open refuses links",
	"internal/backend/wasm/rootfs/":   "a guest's files, by a descriptor of the grant",
	"internal/hosttest/":              "tests",
	"internal/golden/":                "tests",
	"internal/confine/gen/":           "source code, at a developer's desk",
	"internal/confine/owner_linux.go": "files of /proc",
	"internal/seccomp/gen/":           "source code, at a developer's desk",
	"internal/zygote/gen/":            "source code, at a developer's desk",
	"bench/":                          "a developer's desk",
	"compat/":                         "a developer's desk",
}

// TestFilesAreMadeInOnePlace finds calls of os.WriteFile and similar functions, which write
// through a link that a guest may have planted at the name.
func TestFilesAreMadeInOnePlace(t *testing.T) {
	sources(t, ".go", func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") || creators[name] != "" {
			return
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if creators[dir+"/"] != "" {
				return
			}
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !isName(s.X, "os") {
				return true
			}
			switch s.Sel.Name {
			case "WriteFile", "Create", "O_CREATE":
				t.Errorf("%s uses os.%s, which follows links: internal/newfile does not", name, s.Sel.Name)
			}
			return true
		})
	})
}
