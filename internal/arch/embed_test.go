package arch

import (
	"slices"
	"strings"
	"testing"
)

// embedded are the modules that a program links when it imports the root package. They do
// not include those of the service.
var embedded = []string{"github.com/tetratelabs/wazero", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text"}

func TestEmbeddersLinkFewModules(t *testing.T) {
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for _, system := range systems {
		i := slices.IndexFunc(all[system], func(p listedPackage) bool { return p.ImportPath == module })
		for _, dep := range all[system][i].Deps {
			first, _, _ := strings.Cut(dep, "/")
			if !strings.Contains(first, ".") || dep == module || strings.HasPrefix(dep, module+"/") {
				continue // the standard library, or ours
			}
			known := slices.IndexFunc(embedded, func(m string) bool { return dep == m || strings.HasPrefix(dep, m+"/") })
			if known < 0 {
				t.Errorf("on %s, programs that embed cordon link %s: remove it, or add its module here and to docs/go.md", system, dep)
				continue
			}
			linked[embedded[known]] = true
		}
	}
	for _, m := range embedded {
		if !linked[m] {
			t.Errorf("%s is no longer linked: remove it here and from docs/go.md", m)
		}
	}
}
