package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// linknames are names that the Go project keeps for other projects: go.dev/issue/67401.
var linknames = []string{
	"syscall.runtime_BeforeFork", "syscall.runtime_AfterFork", "syscall.runtime_AfterForkInChild",
	"runtime.entersyscallblock", "runtime.exitsyscall",
}

// Reviewers look for unsafe code in *_unsafe.go, and must not miss any elsewhere.
func TestUnsafeIsInItsFiles(t *testing.T) {
	unsafe := regexp.MustCompile(`_unsafe(_test)?\.go$`)
	files := 0
	sources(t, ".go", func(name string, text []byte) {
		files++
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		imports := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote("unsafe") })
		switch {
		case imports && !unsafe.MatchString(name):
			t.Errorf("%s imports unsafe: move that part to a file named *_unsafe.go", name)
		case !imports && unsafe.MatchString(name):
			t.Errorf("%s does not import unsafe: rename it", name)
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if words := strings.Fields(comment.Text); words[0] == "//go:linkname" && !slices.Contains(linknames, words[len(words)-1]) {
					t.Errorf("%s uses %s, which the next Go release may break", name, comment.Text)
				}
			}
		}
	})
	if files < 50 {
		t.Fatalf("found only %d Go files: the walk is wrong", files)
	}
}

// document reads a file of the checkout.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var quoted = regexp.MustCompile("`([^`\n]+)`")

// pathsIn returns the paths of this repository in a document: they are in backquotes, and
// start with a directory or file of the root.
func pathsIn(text string, inRoot []string) []string {
	var paths []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		p := strings.TrimPrefix(strings.TrimSuffix(m[1], "/"), "./")
		first, _, below := strings.Cut(p, "/")
		if strings.ContainsAny(p, " …<>$=(){}") || path.IsAbs(p) {
			continue
		}
		if slices.Contains(inRoot, first) && (below || strings.Contains(p, ".")) || regexp.MustCompile(`^(internal|cmd|policy|run|bench|docs|scripts|examples)/`).MatchString(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// documents name files and tests. The CHANGELOG is not among them: it names those of its
// time.
var documents = []string{
	"docs/README.md", "docs/cli.md", "docs/scripts.md", "docs/policy.md", "docs/tiers.md", "docs/hosts.md", "docs/go.md",
	"docs/architecture.md", "docs/commands.md", "docs/language.md", "docs/python.md", "docs/wasm.md",
	"README.md", "CONTRIBUTING.md", "RATIONALE.md", "SPECIFICATION.md", "SECURITY.md",
}

func TestPathsInDocumentsExist(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var inRoot []string
	for _, e := range entries {
		// A program that somebody built there is not a directory of the repository.
		if e.IsDir() || strings.Contains(e.Name(), ".") {
			inRoot = append(inRoot, e.Name())
		}
	}
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			for _, p := range pathsIn(document(t, name), inRoot) {
				if strings.HasPrefix(p, "bin/") || strings.HasPrefix(p, "dist/") || strings.HasPrefix(p, ".cache/") {
					continue // built, not committed
				}
				found, err := filepath.Glob(filepath.Join(root, p))
				if err != nil || len(found) == 0 {
					t.Errorf("%s names %s, which does not exist", name, p)
				}
			}
		})
	}
}

func TestPathsIn(t *testing.T) {
	text := "See `runner.go`, `internal/gone/x.go`, `policy/`, `os.Exit`, `make run`, `/etc/passwd`, `a/b`, `cmd/cordon/*.go`."
	got := pathsIn(text, []string{"runner.go", "policy", "cmd", "internal"})
	if want := []string{"runner.go", "internal/gone/x.go", "cmd/cordon/*.go"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w*$`)

// testsIn returns the tests that a document names in backquotes.
func testsIn(text string) []string {
	var names []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		if testName.MatchString(m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// A document must not name a test that was renamed or removed.
func TestTestsInDocumentsExist(t *testing.T) {
	there := map[string]bool{}
	sources(t, "_test.go", func(name string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	})
	named := 0
	for _, name := range documents {
		for _, test := range testsIn(document(t, name)) {
			named++
			if !there[test] {
				t.Errorf("%s names %s, which is not a test", name, test)
			}
		}
	}
	if named < 100 {
		t.Fatalf("found only %d names of tests: the search is wrong", named)
	}
}

func TestTestsIn(t *testing.T) {
	text := "`TestOne`, `FuzzTwo` (`BenchmarkThree`), TestBare, `Testing`, `go test -run TestFour`, `TestFive/case`.\n"
	got := testsIn(text)
	if want := []string{"TestOne", "FuzzTwo", "BenchmarkThree"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

var goFile = regexp.MustCompile(`(?:^|[\s(])([a-z][a-z0-9_]*\.go)\b`)

// filesIn returns the Go files that a comment names without a path: they are in its own
// directory.
func filesIn(comment string) []string {
	var names []string
	for _, m := range goFile.FindAllStringSubmatch(comment, -1) {
		names = append(names, m[1])
	}
	return names
}

// A comment must not name a file that was renamed or removed.
func TestFilesInCommentsExist(t *testing.T) {
	named := 0
	sources(t, ".go", func(name string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		for _, group := range file.Comments {
			for _, other := range filesIn(group.Text()) {
				named++
				if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), other)); err != nil {
					t.Errorf("%s names %s: %v", name, other, err)
				}
			}
		}
	})
	if named < 20 {
		t.Fatalf("found only %d names of files: the search is wrong", named)
	}
}

func TestFilesIn(t *testing.T) {
	got := filesIn("plan.go decides (walls_linux.go does), x/sys/unix/z.go, *_unsafe.go, judge.goes, and\ndoc.go.")
	if want := []string{"plan.go", "walls_linux.go", "doc.go"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

var (
	target  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	command = regexp.MustCompile("(?m)(?:^\\s*(?:\\$ )?|`|&& )make ([a-z][a-z -]*)")
)

// makeCommands returns the targets that a document tells people to make.
func makeCommands(text string) []string {
	var targets []string
	for _, m := range command.FindAllStringSubmatch(text, -1) {
		targets = append(targets, strings.Fields(m[1])[0])
	}
	return targets
}

func TestMakeCommandsInDocumentsExist(t *testing.T) {
	var targets []string
	for _, m := range target.FindAllStringSubmatch(document(t, "Makefile"), -1) {
		targets = append(targets, m[1])
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md", "SPECIFICATION.md", ".ci/run"} {
		t.Run(name, func(t *testing.T) {
			text := document(t, name)
			// Prose such as "make sure" can be at the start of a line, too.
			if path.Ext(name) == ".md" {
				text = onlyCode(text)
			}
			for _, c := range makeCommands(text) {
				if !slices.Contains(targets, c) {
					t.Errorf("%s says `make %s`, which is not a target of the Makefile", name, c)
				}
			}
		})
	}
}

// onlyCode keeps only fenced blocks and text in backquotes.
func onlyCode(text string) string {
	var code strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced:
			code.WriteString(line)
		default:
			for _, m := range quoted.FindAllString(line, -1) {
				code.WriteString(m + "\n")
			}
		}
	}
	return code.String()
}

func TestMakeCommands(t *testing.T) {
	text := "Make sure, then `make run` or\nmake sure of it:\n```\n$ make test RUNS=3\nmake clean && make gone\n```\n"
	got := makeCommands(onlyCode(text))
	if want := []string{"run", "test", "clean", "gone"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// Each script that the Makefile or the CI calls exists and is executable.
func TestScriptsExist(t *testing.T) {
	script := regexp.MustCompile(`\bscripts/[a-z-]+`)
	for _, name := range []string{"Makefile", ".ci/run"} {
		for _, s := range append(script.FindAllString(document(t, name), -1), ".ci/run") {
			info, err := os.Stat(filepath.Join(root, s))
			if err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("%s calls %s, which is missing or not executable: %v", name, s, err)
			}
		}
	}
}

// RATIONALE.md has a reason for each module that go.mod requires directly, and for no
// other.
func TestEveryDependencyHasItsReason(t *testing.T) {
	_, table, found := strings.Cut(document(t, "RATIONALE.md"), "\n## Dependencies\n")
	if !found {
		t.Fatal("RATIONALE.md has no section about dependencies")
	}
	inCode := regexp.MustCompile("`([^`]+)`")
	reasons := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, name := range inCode.FindAllStringSubmatch(cells[1], -1) {
				reasons[name[1]] = true
			}
		}
	}
	file := document(t, "go.mod")
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(file, -1) {
		if !reasons[match[1]] {
			t.Errorf("the dependencies in RATIONALE.md have no row for %s", match[1])
		}
	}
	for name := range reasons {
		if !strings.Contains(file, "\t"+name+" v") {
			t.Errorf("RATIONALE.md has a reason for %s, which go.mod does not require", name)
		}
	}
}
