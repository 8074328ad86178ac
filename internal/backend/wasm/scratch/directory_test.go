package scratch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// joinNames joins the names of directory entries with spaces.
func joinNames(found []sys.Dirent) string {
	var names []string
	for _, d := range found {
		names = append(names, d.Name)
	}
	return strings.Join(names, " ")
}

func (w *world) lists(f sys.File, n int) string {
	w.Helper()
	found, errno := f.Readdir(n)
	if errno != 0 {
		w.Errorf("readdir: %v", errno)
	}
	return joinNames(found)
}

func TestReaddir(t *testing.T) {
	w := newWorld(t, plenty).with("d/", "d/c", "d/a/", "d/b -> c")
	d := w.must("d", sys.O_RDONLY)
	found, errno := d.Readdir(-1)
	check(t, "readdir", errno, 0)
	for _, e := range found {
		st, errno := w.Lstat("d/" + e.Name)
		if errno != 0 || st.Ino != e.Ino || st.Mode.Type() != e.Type {
			t.Errorf("%+v, and it is %+v", e, st)
		}
	}
	if got := joinNames(found); got != "c a b" {
		t.Errorf("%q", got)
	}
	if got := w.lists(d, 1); got != "" {
		t.Errorf("at the end there is %q", got)
	}
	w.with("d/new")
	if got := w.lists(d, 1); got != "" {
		t.Errorf("behind the end there is %q", got)
	}
	if at, errno := d.Seek(0, 0); at != 0 || errno != 0 {
		t.Errorf("%d, %v", at, errno)
	}
	var one []string
	for range 5 {
		one = append(one, w.lists(d, 1))
	}
	if got := strings.Join(one, " "); got != "c a b new " {
		t.Errorf("%q", got)
	}
}

func TestReaddirDuringChanges(t *testing.T) {
	w := newWorld(t, plenty)
	var all []string
	for i := range 100 {
		name := fmt.Sprintf("%03d", i)
		all = append(all, name)
		w.with(name)
	}
	d := w.must(".", sys.O_RDONLY)
	got := []string{w.lists(d, 10)}
	// Remove listed and unlisted files, add others, and rename all.
	for _, name := range append(slices.Clone(all[:20]), all[30:80]...) {
		check(t, "unlink", w.Unlink(name), 0)
	}
	got = append(got, w.lists(d, 5))
	w.with("x", "y")
	check(t, "rename", w.Rename(all[90], all[99]), 0)
	for {
		found := w.lists(d, 3)
		if found == "" {
			break
		}
		got = append(got, found)
	}
	want := slices.Concat(all[:10], all[20:30], all[80:90], all[91:99])
	if !slices.Equal(strings.Fields(strings.Join(got, " ")), want) {
		t.Errorf("%q", got)
	}
}

// A guest that renames the files that it lists does not see them again.
func TestListingEndsDespiteRenames(t *testing.T) {
	w := newWorld(t, plenty).with("a", "b", "c")
	d := w.must(".", sys.O_RDONLY)
	for i := range 10 {
		name := w.lists(d, 1)
		if name == "" {
			if i != 3 {
				t.Errorf("%d names", i)
			}
			return
		}
		check(t, "rename", w.Rename(name, name+"x"), 0)
	}
	t.Error("there is no end")
}

func TestRemovedOpenDirectory(t *testing.T) {
	w := newWorld(t, plenty).with("d/", "d/f")
	d := w.must("d", sys.O_RDONLY)
	check(t, "unlink", w.Unlink("d/f"), 0)
	check(t, "rmdir", w.Rmdir("d"), 0)
	if got := w.lists(d, -1); got != "" {
		t.Errorf("%q", got)
	}
	if st, errno := d.Stat(); st.Nlink != 0 || errno != 0 {
		t.Errorf("%+v %v", st, errno)
	}
	w.with("d/", "d/other")
	if got := w.lists(d, -1); got != "" {
		t.Errorf("%q", got)
	}
	check(t, "close", d.Close(), 0)
}

func TestManyNames(t *testing.T) {
	w := newWorld(t, plenty)
	for i := range 3 * maxNames {
		if errno := w.Mkdir(strconv.Itoa(i), 0o700); errno != 0 {
			t.Fatal(errno)
		}
	}
	d := w.must(".", sys.O_RDONLY)
	for _, n := range []int{-1, 0, maxNames + 1, 1 << 40} {
		_, errno := d.Readdir(n)
		check(t, "all at once", errno, sys.ERANGE)
	}
	names := 0
	for range 4 {
		names += len(strings.Fields(w.lists(d, maxNames)))
	}
	if names != 3*maxNames {
		t.Errorf("%d names", names)
	}
}
