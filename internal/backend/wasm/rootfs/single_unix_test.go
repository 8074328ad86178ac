//go:build unix

package rootfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

func (w *world) names(path string) []string {
	w.t.Helper()
	dir := w.must(path, sys.O_RDONLY|sys.O_DIRECTORY)
	defer dir.Close()
	entries, errno := dir.Readdir(-1)
	if errno != 0 {
		w.t.Fatal(errno)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names
}

func TestSingleFileIsAloneInItsDirectory(t *testing.T) {
	w := newWorld(t, true, generous)
	w.links()
	w.open([]Grant{{Host: w.granted + "/in.txt", Guest: "/data/in.txt"}}, generous)
	if m := w.set.Mounts(); len(m) != 1 || m[0].Guest != "/data" {
		t.Fatalf("%+v", m)
	}
	if got := w.names("."); !slices.Equal(got, []string{"in.txt"}) {
		t.Errorf("%q", got)
	}
	for _, path := range []string{"in.txt", "/in.txt", "./in.txt", "x/../in.txt"} {
		if text, errno := w.reads(path); text != "inside" {
			t.Errorf("%s: %q, %v", path, text, errno)
		}
	}
	for _, a := range slices.Concat(following, naming) {
		for _, path := range []string{"sub", "sub/deep.txt", "in", "new", "../granted/in.txt", "..", "directory-in/deep.txt"} {
			if errno := a.do(w, path); errno != sys.ENOENT && errno != sys.EPERM && errno != sys.EROFS {
				t.Errorf("%s %s: %v", a.name, path, errno)
			}
		}
	}
	check(t, "through it", w.opens("in.txt/x", sys.O_RDONLY), sys.ENOTDIR)
	check(t, "with a slash", w.opens("in.txt/", sys.O_RDONLY), sys.ENOTDIR)
	check(t, "write", w.opens("in.txt", sys.O_WRONLY), sys.EROFS)
	check(t, "utimens", w.fs.Utimens("in.txt", 1, 1), sys.EROFS)
	if st, errno := w.fs.Stat("."); errno != 0 || !st.Mode.IsDir() {
		t.Errorf("%v, %v", st, errno)
	}
}

func TestSingleFileWithWriteGrant(t *testing.T) {
	w := newWorld(t, true, generous)
	w.open([]Grant{{Host: w.granted + "/in.txt", Guest: "/data/in.txt", Write: true}}, Limits{Disk: 10, Files: openFileLimit(5)})
	f := w.must("in.txt", sys.O_RDWR|sys.O_CREAT|sys.O_TRUNC)
	if _, errno := f.Write([]byte("0123456789")); errno != 0 {
		t.Fatal(errno)
	}
	check(t, "more", func() sys.Errno { _, e := f.Write([]byte("x")); return e }(), guestfs.ENOSPC)
	check(t, "utimens", w.fs.Utimens("in.txt", 1, 1), 0)
	for name, errno := range map[string]sys.Errno{
		"unlink":         w.fs.Unlink("in.txt"),
		"rename":         w.fs.Rename("in.txt", "new"),
		"rename to":      w.fs.Rename("in.txt", "in.txt"),
		"link":           w.fs.Link("in.txt", "new"),
		"rmdir":          w.fs.Rmdir("in.txt"),
		"mkdir":          w.fs.Mkdir("in.txt", 0o700),
		"symlink":        w.fs.Symlink("x", "in.txt"),
		"rmdir the list": w.fs.Rmdir("."),
	} {
		check(t, name, errno, sys.EPERM)
	}
	// If the host removes the file, the guest cannot create it again.
	if err := os.Remove(filepath.Join(w.granted, "in.txt")); err != nil {
		t.Fatal(err)
	}
	check(t, "create", w.opens("in.txt", sys.O_RDWR|sys.O_CREAT), sys.ENOENT)
}

// A link in place of the granted file could reach the other files of its directory.
func TestLinkAtSingleFileIsNotFollowed(t *testing.T) {
	w := newWorld(t, true, generous)
	secret := filepath.Join(w.granted, "secret")
	fill(t, secret, "secret")
	w.open([]Grant{{Host: w.granted + "/in.txt", Guest: "/data/in.txt", Write: true}}, generous)
	if err := os.Remove(filepath.Join(w.granted, "in.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret", filepath.Join(w.granted, "in.txt")); err != nil {
		t.Fatal(err)
	}
	before := contents(t, secret)
	for _, a := range following {
		want := sys.ELOOP
		if a.name == "chmod" {
			want = sys.EPERM
		}
		check(t, a.name, a.do(w, "in.txt"), want)
	}
	if after := contents(t, secret); after[secret] != before[secret] {
		t.Errorf("%v; was %v", after, before)
	}
}

func TestGrantedLinkGrantsItsTarget(t *testing.T) {
	w := newWorld(t, true, generous)
	w.links()
	w.open([]Grant{{Host: w.granted + "/in-chain", Guest: "/data/name"}, {Host: w.granted + "/sub/deep.txt", Guest: "/data/other"}}, generous)
	if got := w.names("."); !slices.Equal(got, []string{"name", "other"}) {
		t.Errorf("%q", got)
	}
	if text, errno := w.reads("name"); text != "inside" {
		t.Errorf("%q, %v", text, errno)
	}
}

// A library in the guest uses the longest matching mount: the mount of a single file must not
// hide files of a wider one.
func TestSingleFileInAGrantedDirectory(t *testing.T) {
	w := newWorld(t, true, generous)
	fill(t, filepath.Join(w.granted, "sub", "log"), "")
	file := func(write bool) Grant { return Grant{w.granted + "/sub/log", "/data/sub/log", write} }
	directory := func(write bool) Grant { return Grant{w.granted, "/data", write} }

	for _, grants := range [][]Grant{{file(false), directory(false)}, {directory(true), file(true)}, {directory(true), file(false)}} {
		w.open(grants, generous)
		if got := len(w.set.Mounts()); got != 1 {
			t.Errorf("%+v: %d mounts", grants, got)
		}
	}

	w.open([]Grant{directory(false), file(true)}, generous)
	mounts := w.set.Mounts()
	if len(mounts) != 2 || mounts[1].Guest != "/data/sub" {
		t.Fatalf("%+v", mounts)
	}
	w.fs = mounts[1].FS
	if got := w.names("."); !slices.Equal(got, []string{"deep.txt", "log"}) {
		t.Errorf("%q", got)
	}
	check(t, "write the file", w.opens("log", sys.O_WRONLY), 0)
	check(t, "write the other", w.opens("deep.txt", sys.O_WRONLY), sys.EROFS)
	check(t, "out", w.opens("../in.txt", sys.O_RDONLY), sys.EPERM)
	if text, errno := w.reads("deep.txt"); text != "deep" {
		t.Errorf("%q, %v", text, errno)
	}
}

// A granted directory has a link that leads out, and a file behind the link is granted: only
// that file is accessible, not its directory.
func TestSingleFileBehindALinkThatLeadsOut(t *testing.T) {
	w := newWorld(t, true, generous)
	w.links()
	for _, write := range []bool{false, true} {
		w.open([]Grant{{w.granted, "/data", write}, {w.granted + "/directory-out/secret", "/data/directory-out/secret", false}}, generous)
		w.fs = w.set.Mounts()[1].FS
		if got := w.names("."); !slices.Equal(got, []string{"secret"}) {
			t.Errorf("%q", got)
		}
		if text, errno := w.reads("secret"); text != "secret" {
			t.Errorf("%q, %v", text, errno)
		}
		check(t, "write", w.opens("secret", sys.O_WRONLY), sys.EROFS)
	}
}

func TestInvalidGrants(t *testing.T) {
	w := newWorld(t, true, generous)
	for _, c := range []struct {
		grants []Grant
		want   string
	}{
		{[]Grant{{w.granted + "/missing", "/data", false}}, `missing": no such file or directory`},
		{[]Grant{{w.granted + "/in.txt/x", "/data", false}}, `x": not a directory`},
		{[]Grant{{"/dev/null", "/dev/null", false}}, `"/dev/null": it is neither a directory nor a file`},
		{[]Grant{{w.granted, "data", false}}, `"data" must be absolute`},
		{[]Grant{{w.granted, "/data/../x", false}}, `"/data/../x" must be absolute and without dots`},
		{[]Grant{{w.granted, "/data", false}, {w.outside, "/data", false}}, `granted" is already at /data`},
	} {
		roots, err := Open(c.grants)
		if err == nil {
			roots.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
	w.open([]Grant{{w.granted, "/data", false}, {w.granted, "/data", true}}, generous)
	check(t, "the wider of both", w.opens("in.txt", sys.O_RDWR), 0)
}

// A grant stays with the opened directory if its path is replaced.
func TestGrantIsFixedWhenOpened(t *testing.T) {
	w := newWorld(t, true, generous)
	if err := os.Rename(w.granted, w.granted+".moved"); err != nil {
		t.Fatal(err)
	}
	mkdir(t, w.granted)
	fill(t, filepath.Join(w.granted, "in.txt"), "another")
	if text, errno := w.reads("in.txt"); text != "inside" {
		t.Errorf("%q, %v", text, errno)
	}
}

func TestWiderOfTwoGrantsCounts(t *testing.T) {
	w := newWorld(t, true, generous)
	w.links()
	sub := func(write bool) Grant { return Grant{w.granted + "/sub", "/data/sub", write} }
	all := func(write bool) Grant { return Grant{w.granted, "/data", write} }
	for _, c := range []struct {
		grants   []Grant
		all, sub sys.Errno
	}{
		{[]Grant{all(false), sub(true)}, sys.EROFS, 0},
		{[]Grant{sub(false), all(true)}, 0, 0},
		{[]Grant{sub(false), all(false)}, sys.EROFS, sys.EROFS},
		{[]Grant{all(false), all(true), sub(false)}, 0, 0},
		// Different directories are not merged.
		{[]Grant{all(true), {w.outside, "/data/sub", false}}, 0, sys.EROFS},
		{[]Grant{all(true), {w.granted + "/directory-out", "/data/directory-out", false}}, 0, sys.EROFS},
	} {
		w.open(c.grants, generous)
		mounts := w.set.Mounts()
		if len(mounts) != 2 {
			t.Fatalf("%+v", mounts)
		}
		check(t, "the outer", mounts[0].FS.Chmod("in.txt", 0o644), c.all)
		check(t, "the inner", mounts[1].FS.Chmod(".", 0o755), c.sub)
	}
}
