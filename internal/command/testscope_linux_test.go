package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fixture is a temporary directory with a workspace, and beside it files that must not be
// visible inside.
type fixture struct {
	t       *testing.T
	root    string
	ws      string
	outside string
	scope   Scope
}

// newFixture returns a new fixture. The scratch directory is called /scratch, so that the
// files in the host's /tmp around the workspace are outside.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &fixture{t: t, root: root, ws: filepath.Join(root, "ws"), outside: filepath.Join(root, "outside")}
	g.scope = Scope{
		Workspace: g.ws, Dir: g.ws, Scratch: "/scratch",
		System: existing("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ssl"),
		Path:   []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"},
	}
	g.write("ws/data.txt", "x", 0o644)
	g.write("ws/sub/deep/data.txt", "x", 0o644)
	g.write("ws/with space", "x", 0o644)
	g.write("outside/secret", "x", 0o644)
	return g
}

func existing(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { _, err := os.Stat(name); return err != nil })
}

func (g *fixture) write(name, text string, mode os.FileMode) string {
	g.t.Helper()
	full := filepath.Join(g.root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), mode); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Chmod(full, mode); err != nil {
		g.t.Fatal(err)
	}
	return full
}

func (g *fixture) link(target, name string) {
	g.t.Helper()
	if err := os.Symlink(target, filepath.Join(g.root, name)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *fixture) copyOf(program, name string, more ...byte) {
	g.t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		g.t.Fatal(err)
	}
	g.write(name, string(append(data, more...)), 0o755)
}

// need returns the path of a program on this host, with links resolved. If the program is
// missing the test is skipped, or fails where CORDON_REQUIRE_HOST=1 forbids skips.
func need(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"} {
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
			return real
		}
	}
	hosttest.Lacks(t, "%s is missing on this host", name)
	return ""
}

// brief shortens a command of thousands of words for the log.
func brief(argv []string) string { return fmt.Sprintf("%.20q", argv[:min(len(argv), 12)]) }

// check calls Check and fails the test on an error.
func (g *fixture) check(argv ...string) Verdict {
	g.t.Helper()
	v, err := Check(argv, g.scope)
	if err != nil {
		g.t.Fatalf("%s: %v", brief(argv), err)
	}
	if !filepath.IsAbs(v.Path) || filepath.Clean(v.Path) != v.Path {
		g.t.Errorf("%s: path %q is not canonical", brief(argv), v.Path)
	}
	return v
}

func (g *fixture) allowed(argv ...string) {
	g.t.Helper()
	if v := g.check(argv...); v.Refusals != nil {
		g.t.Errorf("%s was refused: %+v", brief(argv), v.Refusals)
	}
}

// refused fails the test unless the rule refuses the command, with all the words in the
// detail or the hint.
func (g *fixture) refused(rule string, argv []string, words ...string) {
	g.t.Helper()
	v := g.check(argv...)
	i := slices.IndexFunc(v.Refusals, func(r run.Violation) bool { return r.Op == rule })
	if i < 0 {
		g.t.Errorf("%s was not refused by %q: %+v", brief(argv), rule, v.Refusals)
		return
	}
	r := v.Refusals[i]
	if r.Wall != policy.WallCommand || r.Count < 1 || r.Hint == "" {
		g.t.Errorf("%s: %+v is not complete", brief(argv), r)
	}
	for _, w := range words {
		if !strings.Contains(r.Detail+" "+r.Hint, w) {
			g.t.Errorf("%s: no %q in %q, %q", brief(argv), w, r.Detail, r.Hint)
		}
	}
}

func wantClass(t *testing.T, err error, class run.Class, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want %s", class)
		return
	}
	if got := run.ClassOf(err); got != class {
		t.Errorf("%v is %s; want %s", err, got, class)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in %q", w, err)
		}
	}
}
