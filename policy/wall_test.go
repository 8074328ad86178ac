package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// Reports show the walls in these lists. A wall that is in none would be missing
// from every report.
func TestEveryWallIsListedOnce(t *testing.T) {
	listed := slices.Concat(Walls(), OtherWalls(), []Wall{WallFilesystem, WallNetwork})
	declared := declaredWalls(t)
	for name, wall := range declared {
		count := 0
		for _, w := range listed {
			if w == wall {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%s is listed %d times", name, count)
		}
	}
	if len(declared) != len(listed) {
		t.Errorf("%d walls are declared, and %d listed", len(declared), len(listed))
	}
}

// declaredWalls reads the constants from the source, because no list has to contain
// them.
func declaredWalls(t *testing.T) map[string]Wall {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "wall.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	walls := map[string]Wall{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Wall" {
			return true
		}
		for i, name := range spec.Names {
			text, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			walls[name.Name] = Wall(text)
		}
		return true
	})
	return walls
}
