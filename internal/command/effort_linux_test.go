package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// worked says how much one look took. Each system call and each step of a path
// is one at least.
func (g *ground) worked(argv ...string) (spent int, v Verdict) {
	g.t.Helper()
	looking, err := newView(g.scope)
	if err != nil {
		g.t.Fatal(err)
	}
	v, err = looking.check(argv)
	if err != nil {
		g.t.Fatalf("%s: %v", brief(argv), err)
	}
	return looking.spent, v
}

// A file that has just been made is read once, however often it is named.
func TestFreshFilesAreReadOnce(t *testing.T) {
	g := newGround(t)
	g.standIns("setarch")
	g.copyOf(need(t, "ls"), "ws/tool", 1)
	for _, argv := range [][]string{{"./tool"}, {"env", "./tool"}, append([]string{"setarch"}, slices.Repeat([]string{"./tool"}, 10)...)} {
		looking, err := newView(g.scope)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := looking.check(argv); err != nil || v.Refusals != nil {
			t.Errorf("%q: %+v, %v", argv, v, err)
		}
		want := int64(0)
		for _, name := range slices.Compact(slices.Clone(argv)) {
			f, err := g.find(name)
			if err != nil {
				t.Fatal(err)
			}
			want += f.info.Size()
		}
		if looking.read != want {
			t.Errorf("%q: %d bytes were read; the files have %d", argv, looking.read, want)
		}
	}
}

// Files with holes cost nothing to make, and must not cost hours to read.
func TestReadingIsBounded(t *testing.T) {
	g := newGround(t)
	v, err := newView(g.scope)
	if err != nil {
		t.Fatal(err)
	}
	g.write("ws/tool", string(fakeELF("libc.so.6")), 0o755)
	f, err := v.locate(v.dir, "./tool")
	if err != nil {
		t.Fatal(err)
	}
	v.read = readTotal
	if n := v.nature(f); n.format != secret {
		t.Errorf("%+v was read", n)
	}
}

func numbered(form string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}

// A command line of ordinary size must not cost minutes before it is refused.
func TestHostileArgumentsAreBounded(t *testing.T) {
	g := newGround(t)
	g.standIns("setarch")
	for i := range 40 { // forty links, each of which leads to and fro before the next
		g.link(strings.Repeat("sub/../", 500)+fmt.Sprintf("l%d", i+1), fmt.Sprintf("ws/l%d", i))
	}
	g.write("ws/l40", "x", 0o644)
	deep := "/usr" + strings.Repeat("/a", 60_000)
	short := "/usr" + strings.Repeat("/a", 2000)
	for _, test := range []struct {
		name string
		argv []string
		most int // of effort
	}{
		{"one long path", []string{"ls", deep}, 10_000},
		{"twelve long paths", append([]string{"ls"}, slices.Repeat([]string{deep}, 12)...), 50_000},
		{"paths of just the length", append([]string{"ls"}, slices.Repeat([]string{short}, 350)...), effortMost},
		{"the name of the user", []string{"ls", "~" + strings.Repeat("x", 100_000)}, 10_000},
		{"users", []string{"ls", strings.Join(numbered("~%d", 20_000), ",")}, effortMost},
		{"users in a list", []string{"ls", strings.Join(numbered("~%d", 20_000), ":")}, effortMost},
		{"colons", []string{"ls", strings.Repeat("a/b:", 30_000)}, effortMost},
		{"all separators", append([]string{"ls"}, slices.Repeat([]string{strings.Repeat("=@/usr:,=@../", 9_000)}, 12)...), effortMost},
		{"links to links", append([]string{"ls"}, slices.Repeat([]string{"l0"}, 100_000)...), effortMost},
		{"outside", append([]string{"ls"}, slices.Repeat([]string{"/etc" + strings.Repeat("/a", 2000)}, 350)...), effortMost},
		{"directories of the PATH", append([]string{"setarch", "env", "PATH=" + strings.Join(numbered("/usr/%d", 12_000), ":")}, numbered("x%d", 9_000)...), effortMost},
		{"wrappers", slices.Concat([]string{"setarch"}, slices.Repeat([]string{"find"}, 900), slices.Repeat([]string{"x"}, 100_000)), effortMost},
	} {
		t.Run(test.name, func(t *testing.T) {
			g.t = t
			// What goes over the bound is the last thing that was done.
			if spent, _ := g.worked(test.argv...); spent > test.most+10_000 {
				t.Errorf("%d steps; want %d at most", spent, test.most)
			}
		})
	}
	// What was not looked at does not pass.
	g.t = t
	g.refused(rulePath, append([]string{"ls"}, slices.Repeat([]string{"l0"}, 100_000)...), "too many paths")
	g.scope.AllowInterpreters = true
	g.refused(rulePath, append([]string{"ls"}, slices.Repeat([]string{"l0"}, 100_000)...), "too many paths")
}

// Thousands of files in one command are ordinary.
func TestManyOrdinaryArgumentsAreLookedAt(t *testing.T) {
	g := newGround(t)
	for _, form := range []string{"sub/deep/of/some/object-%d.o", g.ws + "/sub/deep/object-%d.o", "-I" + g.ws + "/sub/deep/%d", "%d", "--file=sub/%d"} {
		argv := append([]string{"rm"}, numbered(form, 20_000)...)
		spent, v := g.worked(argv...)
		if spent > effortMost/2 || v.Refusals != nil {
			t.Errorf("%s: %d steps, %+v", form, spent, v.Refusals)
		}
	}
	// A list longer than any path is taken apart all the same.
	list := strings.Join(numbered("sub/%d.jar", 2000), ":")
	g.allowed("ls", list)
	g.refused(rulePath, []string{"ls", list + ":/etc/passwd"}, "/etc/passwd")
}
