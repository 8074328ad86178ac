package workdir

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newDir(t *testing.T) (d *Dir, at string) {
	at = t.TempDir()
	root, err := os.OpenRoot(at)
	if err != nil {
		t.Fatal(err)
	}
	d = New(OnHost(root, Self()))
	t.Cleanup(func() { d.Close() })
	return d, at
}

// collected returns a Result with the artifacts that match a pattern.
func collected(d *Dir, pattern string, most policy.Bytes) (r run.Result) {
	d.Collect(run.Script{Artifacts: []string{pattern}}, most, &r)
	return r
}

// What no guest of the process tier can make, others could.
func TestSpecialFiles(t *testing.T) {
	d, at := newDir(t)
	if err := syscall.Mkfifo(filepath.Join(at, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(at, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, name := range []string{"pipe", "socket"} {
		if _, _, err := d.Open(name); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "a pipe, a socket or a device") {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := d.List()
	if err != nil || len(list) != 2 || list[0].Kind != run.FileSpecial || list[1].Kind != run.FileSpecial {
		t.Errorf("%+v %v", list, err)
	}
	if r := collected(d, "*", 1000); len(r.Artifacts) != 2 || !strings.Contains(r.Artifacts[0].Error, "a pipe") || r.ArtifactsError != "" {
		t.Errorf("%+v", r)
	}
	// A pipe is replaced, and nobody has to read from it.
	if _, err := d.Write("pipe", strings.NewReader("x")); err != nil {
		t.Error(err)
	}
}

// A pipe that replaces a file or a directory just before it is opened keeps nobody waiting.
func TestOpenDoesNotWait(t *testing.T) {
	for what, open := range map[string]func(d *Dir, at string) error{
		"a file":             func(d *Dir, _ string) error { _, _, err := d.openRegular("pipe"); return err },
		"a directory":        func(d *Dir, _ string) error { _, err := d.tree.Entries("pipe", 1); return err },
		"a file of the host": func(_ *Dir, at string) error { _, err := OpenFile(filepath.Join(at, "pipe")); return err },
	} {
		d, at := newDir(t)
		pipe := filepath.Join(at, "pipe")
		if err := syscall.Mkfifo(pipe, 0o666); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(10*time.Second, func() {
			writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
			if err != nil {
				t.Error(err)
				return
			}
			writer.Close()
		})
		if err := open(d, at); err == nil {
			t.Errorf("a pipe is opened as %s", what)
		}
		if !late.Stop() {
			t.Errorf("opening %s waits for a writer", what)
		}
	}
}

// Of the host's files, only regular ones are opened. A pipe keeps nobody waiting.
func TestOpenFile(t *testing.T) {
	at := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(at, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		class run.Class
		words string
	}{
		"":             {run.Invalid, "the path of a file is missing"},
		at:             {run.Invalid, "is a directory: name its files"},
		at + "/pipe":   {run.Invalid, "/pipe is not a file"},
		"/dev/zero":    {run.Invalid, "/dev/zero is not a file"},
		at + "/none":   {run.NotFound, "/none does not exist"},
		at + "/file/x": {run.NotExecutable, "/file/x: not a directory"},
	} {
		if _, err := OpenFile(name); run.ClassOf(err) != want.class || !strings.Contains(err.Error(), want.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := OpenFile(filepath.Join(at, "file"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestTooManyNames(t *testing.T) {
	d, at := newDir(t)
	for i := range MaxListed + 1 {
		if err := os.Mkdir(filepath.Join(at, strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.List(); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "more than 10000") {
		t.Errorf("%v", err)
	}
	if r := collected(d, "**", 1000); len(r.Artifacts) != 0 || !strings.Contains(r.ArtifactsError, "more than 10000") {
		t.Errorf("%+v", r)
	}
}

// Deep directories with long names, of which a guest can make thousands, take neither much time
// nor much memory.
func TestDeepNames(t *testing.T) {
	d, _ := newDir(t)
	deep := strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 250)+"/", 30), "/")
	if err := d.tree.(*hostTree).root.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		f, err := d.tree.(*hostTree).root.Create(deep + "/" + strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := d.Write("a", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	list, unfit, err := d.list()
	if err != nil || len(list) != 1 || unfit != 1 {
		t.Errorf("%d names, %d unfit: %v", len(list), unfit, err)
	}
	if r := collected(d, "**", 1000); len(r.Artifacts) != 1 || r.Artifacts[0].Error != "" || !strings.Contains(r.ArtifactsError, "too long") {
		t.Errorf("%+v", r)
	}
	if err := d.Remove(strings.Repeat("d", 250)); err != nil {
		t.Error(err)
	}
}

// A write that fails leaves the file that was there, and nothing else.
func TestWriteThatFails(t *testing.T) {
	d, at := newDir(t)
	if _, err := d.Write("a", strings.NewReader("before")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err := d.Write("a", io.MultiReader(strings.NewReader("half"), errorReader{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	data, _ := os.ReadFile(filepath.Join(at, "a"))
	entries, _ := os.ReadDir(at)
	if string(data) != "before" || len(entries) != 1 {
		t.Errorf("%q %v", data, entries)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// Artifacts have a common bound, which the size that a file claims does not pass.
func TestCollectIsBounded(t *testing.T) {
	d, _ := newDir(t)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := d.Write(name, bytes.NewReader(make([]byte, 40))); err != nil {
			t.Fatal(err)
		}
	}
	artifacts := collected(d, "*", 100).Artifacts
	if len(artifacts) != 3 || len(artifacts[1].Data) != 40 || artifacts[2].Data != nil || !strings.Contains(artifacts[2].Error, "20B that are left") {
		t.Errorf("%+v", artifacts)
	}
	var none *Dir
	if r := collected(none, "*", 100); r.Artifacts != nil || none.Close() != nil {
		t.Errorf("%+v", r)
	}
}

// Files of the host are read when they are given, and not before.
func TestGive(t *testing.T) {
	d, at := newDir(t)
	from := t.TempDir()
	name := filepath.Join(from, "a")
	write := func(data string) {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("data")
	script := run.Script{Artifacts: []string{"*"}, Files: []run.File{{Name: "x", Path: name}, {Name: "y", Data: []byte("1")}, {Name: "z", Path: "a", Root: from}}}
	if size, err := Size(script.Files); err != nil || size != 9 {
		t.Errorf("%v %v", size, err)
	}
	write("new")
	if err := d.Give(script, 7); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"x": "new", "y": "1", "z": "new"} {
		if data, err := os.ReadFile(filepath.Join(at, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	if r := collected(d, "*", 100); r.Artifacts != nil {
		t.Errorf("files that nobody changed: %+v", r)
	}
	if _, err := d.Write("y", strings.NewReader("2")); err != nil {
		t.Fatal(err)
	}
	if r := collected(d, "*", 100); len(r.Artifacts) != 1 || string(r.Artifacts[0].Data) != "2" {
		t.Errorf("%+v", r)
	}
	write("it has grown")
	if err := d.Give(script, 7); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}

func TestGiveRefuses(t *testing.T) {
	d, _ := newDir(t)
	at := t.TempDir()
	for name, target := range map[string]string{"out": "/etc/passwd", "up": "../a"} {
		if err := os.Symlink(target, filepath.Join(at, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(at, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for given, words := range map[[2]string]string{
		{filepath.Join(at, "none"), ""}: "does not exist", {at, ""}: "is a directory", {"/dev/zero", ""}: "not a file", {filepath.Join(at, "pipe"), ""}: "not a file",
		{"none", at}: "does not exist", {".", at}: "is a directory", {"pipe", at}: "not a file",
		{"out", at}: "escapes", {"up", at}: "escapes", {"../a", at}: "escapes", {"/etc/passwd", at}: "escapes",
	} {
		f := run.File{Name: "x", Path: given[0], Root: given[1]}
		_, err := Size([]run.File{f})
		for _, err := range []error{err, d.Give(run.Script{Files: []run.File{f}}, 5)} {
			if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), words) || !strings.HasPrefix(err.Error(), "files[0].path: ") {
				t.Errorf("%+v: %v", f, err)
			}
		}
	}
}

// A guest cannot make a list that is not JSON: it sets the times of its files.
func TestTimesOfGuests(t *testing.T) {
	usual := time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)
	for set, want := range map[time.Time]time.Time{
		usual: usual, time.Unix(1e12, 0): {}, time.Unix(-1e12, 0): {}, time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC): {},
	} {
		stat, err := fs.Stat(fstest.MapFS{"a": &fstest.MapFile{ModTime: set}}, "a")
		if err != nil {
			t.Fatal(err)
		}
		info := describe("a", stat)
		if _, err := info.MarshalJSON(); err != nil || !info.Modified.Equal(want) {
			t.Errorf("%v: %v %v", set, info.Modified, err)
		}
	}
}
