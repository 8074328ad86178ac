package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/cordon-sandbox/cordon"

// root is the path of the checkout from this package's directory.
const root = "../.."

// listedPackage is the part of `go list -json` that these tests use.
type listedPackage struct {
	ImportPath   string
	Name         string
	Standard     bool
	Imports      []string // of the package without its tests
	TestImports  []string
	XTestImports []string
	Deps         []string // all packages that it links
}

// systems are those that cordon is built for: a banned import must not hide in a file for
// another system.
var systems = []string{"linux", "darwin", "windows"}

var packages = sync.OnceValues(func() (map[string][]listedPackage, error) {
	all := map[string][]listedPackage{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Standard,Imports,TestImports,XTestImports,Deps", "./...")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, errors.New("go list: " + string(exit.Stderr))
		}
		if err != nil {
			return nil, err
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listedPackage
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			all[system] = append(all[system], p)
		}
	}
	return all, nil
})

// eachPackage calls f for every package on every system, including those of other modules.
func eachPackage(t *testing.T, f func(system string, p listedPackage)) {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range systems {
		for _, p := range all[system] {
			f(system, p)
		}
	}
}

// local returns the path of a package inside this module, "." for its root.
func local(importPath string) (name string, ours bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// isOrBelow reports whether p is the package or one in a directory of it.
func isOrBelow(p, directory string) bool {
	return p == directory || strings.HasPrefix(p, directory+"/")
}

const slow = "every start of cordon would pay for it: the service is a separate program"

// links are the packages that a program must not link, and why.
var links = []struct{ program, banned, why string }{
	{"cmd/cordon", "gvisor.dev/gvisor", "filters are compiled ahead and embedded; the compiler costs 4 MB and every start of the jail's child"},
	{"cmd/cordon", "testing", "it registers flags and shows that test code is shipped"},
	{"cmd/cordon", "pgregory.net/rapid", "it is for tests"},
	{"cmd/cordon", "github.com/google/go-cmp", "it is for tests"},
	{"cmd/cordon", "go.uber.org/goleak", "it is for tests"},
	{"cmd/cordon", "net/http/pprof", "it adds handlers to the default mux, where every client may use them"},
	{"cmd/cordon", "plugin", "the binary is static"},
	{"cmd/cordon", "github.com/modelcontextprotocol/go-sdk", slow},
	{"cmd/cordon", "github.com/danielgtaylor/huma", slow},
	{"cmd/cordon", "github.com/prometheus", slow},
	{"cmd/cordon", "go.opentelemetry.io", slow},
	{"cmd/cordon", "github.com/coreos/go-systemd", "systemd starts the service"},
	{"cmd/cordond", "gvisor.dev/gvisor", "filters are compiled ahead and embedded"},
	{"cmd/cordond", "testing", "it registers flags and shows that test code is shipped"},
	{"cmd/cordond", "net/http/pprof", "it adds handlers to the default mux, where every client may use them"},
	{"cmd/cordond", "plugin", "the binary is static"},
	{".", "github.com/spf13", "embedders have their own command line"},
	{".", "gvisor.dev/gvisor", "embedders would link a kernel"},
	{".", "github.com/prometheus", "embedders have their own metrics"},
	{".", "go.opentelemetry.io", "embedders have their own tracing"},
	{".", "go.yaml.in/yaml", "the Go API takes a policy.Policy, not a file"},
}

func TestLinks(t *testing.T) {
	seen := map[string]bool{}
	eachPackage(t, func(system string, p listedPackage) {
		name, ours := local(p.ImportPath)
		if !ours {
			return
		}
		seen[name] = true
		for _, l := range links {
			if l.program != name {
				continue
			}
			for _, dep := range p.Deps {
				if isOrBelow(dep, l.banned) {
					t.Errorf("%s links %s on %s: %s", name, dep, system, l.why)
					break
				}
			}
		}
	})
	for _, l := range links {
		if !seen[l.program] {
			t.Errorf("%s does not exist: remove it from the table", l.program)
		}
	}
}

// homes are the modules that only some packages may import, and why.
var homes = []struct {
	imported string
	home     []string
	why      string
	tests    bool // whether tests may import it anywhere
}{
	{"gvisor.dev/gvisor", []string{"internal/seccomp/compile", "internal/seccomp/gen"}, "its API is not stable: only one file of ours uses it", true},
	{"github.com/spf13/cobra", []string{"cmd", "internal/cli"}, "only one frontend has flags", false},
	{"go.yaml.in/yaml", []string{"internal/policyfile"}, "one reader reports every error with its line", true},
	{"github.com/tetratelabs/wazero", []string{"internal/backend/wasm"}, "it is the engine of one tier", true},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/mcpserver"}, "it is the protocol of one frontend", true},
	{"github.com/coreos/go-systemd", []string{"cmd/cordond"}, "systemd starts one program", true},
	{"github.com/danielgtaylor/huma", []string{"internal/httpapi"}, "it makes the document of one frontend", true},
	{"github.com/getkin/kin-openapi", nil, "it is for tests: it checks the document", true},
	{"github.com/prometheus", []string{"internal/metrics"}, "only observers use it", true},
	{"go.opentelemetry.io", []string{"internal/tracing"}, "only observers use it", true},
	{"testing", []string{"internal/hosttest", "internal/golden", "internal/backend/backendtest", "internal/cli/clitest"}, "test code stays in tests", true},
	{"C", nil, "cordon is one static binary", false},
}

func TestHomes(t *testing.T) {
	eachPackage(t, func(system string, p listedPackage) {
		name, ours := local(p.ImportPath)
		if !ours {
			return
		}
		for _, h := range homes {
			imports := p.Imports
			if !h.tests {
				imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			}
			at := func(home string) bool { return isOrBelow(name, home) }
			if slices.ContainsFunc(imports, func(i string) bool { return isOrBelow(i, h.imported) }) && !slices.ContainsFunc(h.home, at) {
				t.Errorf("%s imports %s on %s; only %v may: %s", name, h.imported, system, h.home, h.why)
			}
		}
	})
}

// layers are listed from the top. A package imports only from layers below its own. Every
// package is in a layer.
var layers = [][]string{
	{"cmd/cordon", "cmd/cordond", "bench", "bench/soak", "compat", "compat/newest", "deploy", "internal/backend/jail/containtest", "internal/backend/jail/toolstest", "internal/wine", "python", "scripts/hostreport", "scripts/testreport"},
	{"internal/cli/clitest"},
	{"internal/cli", "internal/doctor", "internal/httpapi", "internal/jsonlines", "internal/mcpclient", "internal/mcpserver", "internal/backend/backendtest"},
	{"internal/hosttest", "internal/service"},
	{"."},
	{"internal/tiers"},
	{"internal/token"},
	{"internal/attack", "internal/audit", "internal/metrics", "internal/policyfile", "internal/tracing"},
	{"internal/backend/gvisor"},
	{"internal/backend/process", "internal/backend/jail", "internal/backend/wasm"},
	{"internal/backend/wasm/python"},
	{"internal/backend/wasm/engine"},
	{"internal/backend/portable"},
	{"internal/backend/hook", "internal/backend/wasm/guest"},
	{"internal/backend", "internal/backend/ahead", "internal/backend/verdict"},
	{"internal/backend/wasm/files", "internal/zygote/gen"},
	{"internal/backend/wasm/memory", "internal/backend/wasm/rootfs", "internal/backend/wasm/scratch", "internal/command", "internal/egress", "internal/launch", "internal/report", "internal/zygote"},
	{"internal/backend/wasm/guestfs", "internal/wire", "internal/confine", "internal/confine/gen", "internal/interpreter", "internal/notify", "internal/output"},
	{"internal/seccomp/gen"},
	{"internal/seccomp/compile"},
	{"internal/seccomp", "internal/landlock", "internal/cgroup", "internal/seatbelt", "internal/jobobject"},
	{"internal/hostfeature"},
	{"internal/admission"},
	{"internal/hints", "internal/jsonform", "internal/observe", "internal/openhooks", "internal/runsc", "internal/workdir"},
	{"internal/opened"},
	{"run"},
	{"policy"},
	{"bench/proc", "internal/arch", "internal/elf", "internal/filenames", "internal/golden", "internal/hostpath", "internal/kept", "internal/language", "internal/newfile", "internal/plainjson", "internal/pythonwasm", "internal/script", "internal/tuning", "internal/text", "internal/wasmbin"},
}

func layerOf(name string) int {
	return slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, name) })
}

// Every package in a layer exists.
func TestLayersExist(t *testing.T) {
	there := map[string]bool{}
	eachPackage(t, func(_ string, p listedPackage) {
		if name, ours := local(p.ImportPath); ours {
			there[name] = true
		}
	})
	for _, layer := range layers {
		for _, name := range layer {
			if !there[name] {
				t.Errorf("%s is in a layer, but is not a package", name)
			}
		}
	}
}

func TestPackagesImportLowerLayers(t *testing.T) {
	eachPackage(t, func(system string, p listedPackage) {
		from, ours := local(p.ImportPath)
		if !ours {
			return
		}
		if layerOf(from) < 0 {
			t.Errorf("%s is in no layer: add it to one, in internal/arch and docs/architecture.md", from)
			return
		}
		for _, imported := range p.Imports {
			to, ours := local(imported)
			if ours && layerOf(to) >= 0 && layerOf(to) <= layerOf(from) {
				t.Errorf("%s imports %s on %s, which is not in a lower layer", from, to, system)
			}
		}
	})
}

// leaves are packages that every frontend and every user of the API imports, so they import
// almost nothing. policy needs idna, because only in ASCII does a host name have one
// spelling.
var leaves = map[string][]string{
	"policy":     {"internal/plainjson", "internal/text", "golang.org/x/net/idna"},
	"run":        {"internal/filenames", "internal/plainjson", "internal/text", "policy"},
	"bench/proc": nil,
}

func TestLeaves(t *testing.T) {
	eachPackage(t, func(system string, p listedPackage) {
		name, ours := local(p.ImportPath)
		allowed, leaf := leaves[name]
		if !ours || !leaf {
			return
		}
		for _, imported := range p.Imports {
			to, ours := local(imported)
			if ours && slices.Contains(allowed, to) || slices.Contains(allowed, imported) {
				continue
			}
			if ours || strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("%s imports %s on %s: it may import only the standard library and %v, because every program imports it", name, imported, system, allowed)
			}
		}
	})
}

// No shipped package imports test helpers.
func TestTestHelpersStayInTests(t *testing.T) {
	helpers := []string{"internal/hosttest", "internal/golden", "internal/backend/backendtest", "internal/cli/clitest"}
	eachPackage(t, func(system string, p listedPackage) {
		name, ours := local(p.ImportPath)
		if !ours || slices.Contains(helpers, name) {
			return
		}
		for _, imported := range p.Imports {
			if to, _ := local(imported); slices.Contains(helpers, to) {
				t.Errorf("%s imports %s on %s outside its tests", p.ImportPath, to, system)
			}
		}
	})
}

// sources calls f for each file of the checkout whose name ends in suffix, with its path
// from the root. Because these tests open all files, go test notices changes and does not
// use its cache.
func sources(t *testing.T, suffix string, f func(name string, text []byte)) {
	t.Helper()
	checkout := os.DirFS(root)
	err := fs.WalkDir(checkout, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"bin", "dist", "testdata"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, suffix):
			return nil
		}
		text, err := fs.ReadFile(checkout, name)
		if err != nil {
			return err
		}
		f(name, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
