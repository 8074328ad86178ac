package backendtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Files checks what a tier with /work promises for single runs.
func Files(t *testing.T, open Open, p policy.Policy) {
	p = p.Resolved()
	b := open(t, p)
	do := func(t *testing.T, s run.Script, limits policy.Limits) run.Result {
		t.Helper()
		job := backend.Job{Request: run.Request{Script: s}, Limits: limits.Or(p.Limits)}
		sandbox, err := b.Open(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		result, err := sandbox.Run(t.Context(), job)
		if err := errors.Join(err, sandbox.Close()); err != nil {
			t.Fatal(err)
		}
		return result
	}
	t.Run("in and out", func(t *testing.T) {
		res := do(t, run.Script{
			Source: `
import os, sys, helper
rows = open('sales.csv').read().split()
open('sums.txt', 'w').write(str(helper.total(rows)))
os.makedirs('out/deep')
open('out/deep/a.png', 'wb').write(bytes(range(256)))
open('out/ignored', 'w').write('x')
result = [sorted(os.listdir()), open('/work/data/empty').read(), os.stat('sales.csv').st_uid == getattr(os, 'getuid', lambda: 0)(), sys.argv[1:]]
open('sales.csv', 'a').close()
`,
			Files: []run.File{
				{Name: "sales.csv", Data: []byte("1\n2\n39\n")}, {Name: "helper.py", Data: []byte("def total(rows): return sum(map(int, rows))")}, {Name: "data/empty"},
			},
			Artifacts: []string{"**/*.png", "*.txt", "*.csv"}, Args: []string{"-x", "a b"},
		}, policy.Limits{})
		if want := `[["data","helper.py","out","sales.csv","sums.txt"],"",true,["-x","a b"]]`; string(res.Value) != want {
			t.Errorf("%s %s, want %s", res.Value, res.Error, want)
		}
		// What was given and not changed does not come back.
		if names := artifactNames(res); !slices.Equal(names, []string{"out/deep/a.png", "sums.txt"}) {
			t.Fatalf("%q", names)
		}
		const hash = "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880" // of the bytes 0 to 255
		if a := res.Artifacts[0]; a.Hash != hash || a.Type != "image/png" || a.Size != 256 || len(a.Data) != 256 || a.Error != "" {
			t.Errorf("%+v", a)
		}
		if a := res.Artifacts[1]; string(a.Data) != "42" || a.Type != "text/plain" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("matplotlib starts no program", func(t *testing.T) {
		res := do(t, run.Script{
			Source: "import matplotlib.font_manager as m, subprocess\nresult = [m.fonts, subprocess.check_output.__name__, m.__spec__.name]",
			Files: []run.File{{Name: "matplotlib/__init__.py"}, {Name: "matplotlib/font_manager.py", Data: []byte(`
import subprocess
try:
    fonts = subprocess.check_output(["fc-list", "--help"])
except OSError as error:
    fonts = error.errno
`)}},
		}, policy.Limits{})
		if string(res.Value) != `[2,"check_output","matplotlib.font_manager"]` || len(res.Violations) > 0 {
			t.Errorf("%s %s %+v", res.Value, res.Error, res.Violations)
		}
	})
	t.Run("a changed file comes back", func(t *testing.T) {
		res := do(t, run.Script{Source: "open('a', 'a').write('2')", Files: []run.File{{Name: "a", Data: []byte("1")}}, Artifacts: []string{"**"}}, policy.Limits{})
		if len(res.Artifacts) != 1 || string(res.Artifacts[0].Data) != "12" {
			t.Errorf("%+v", res.Artifacts)
		}
	})
	t.Run("nothing stays", func(t *testing.T) {
		for range 3 {
			res := do(t, run.Script{Source: "import os\nresult = os.listdir('/work')\nopen('left', 'w').close()", Artifacts: []string{"none"}}, policy.Limits{})
			if string(res.Value) != "[]" || len(res.Artifacts) != 0 {
				t.Errorf("%s %s", res.Value, res.Error)
			}
		}
	})
	t.Run("of a run that fails", func(t *testing.T) {
		for outcome, code := range map[run.Outcome]string{run.Raised: "1/0", run.TimedOut: "while True: pass", run.Exited: "import os; os._exit(3)"} {
			res := do(t, run.Script{Source: "open('a', 'w').write('x'); " + strings.ReplaceAll(code, "while", "\nwhile"), Artifacts: []string{"a"}}, policy.Limits{WallTime: 2 * time.Second})
			if res.Outcome != outcome || len(res.Artifacts) != 1 || string(res.Artifacts[0].Data) != "x" {
				t.Errorf("%s: %s %s %+v", outcome, res.Outcome, res.Error, res.Artifacts)
			}
		}
	})
	t.Run("what cannot come back", func(t *testing.T) {
		secret := filepath.Join(t.TempDir(), "secret")
		plant(t, secret)
		res := do(t, run.Script{
			Source: fmt.Sprintf(`
import os
os.symlink(%q, 'absolute')
os.symlink('../../../../../../../..%s', 'climbs')
os.symlink('inside', 'link')
os.symlink('.', 'loop')
os.symlink('/', 'root')
open('inside', 'w').write('x')
for name in 'sparse1', 'sparse2':
    with open(name, 'wb') as f: f.truncate(12 << 20)
open('hidden', 'w').close()
os.chmod('hidden', 0)
open('line\nbreak', 'w').close()
result = 1
try:
    open(b'\xff', 'w').close()
    result += 1
except PermissionError:
    pass  # all names are text on the tier wasm
`, secret, secret), Artifacts: []string{"**"},
		}, policy.Limits{})
		if !res.OK() {
			t.Fatalf("%s\n%s", res.Error, res.Stderr)
		}
		words := map[string]string{"absolute": "symbolic link", "climbs": "symbolic link", "link": "symbolic link", "loop": "symbolic link", "root": "symbolic link", "sparse2": "limits.scratch"}
		for _, a := range res.Artifacts {
			if strings.Contains(string(a.Data), "secret") {
				t.Errorf("a file of the host came back: %+v", a)
			}
			if want := words[a.Name]; want != "" {
				if !strings.Contains(a.Error, want) || a.Data != nil {
					t.Errorf("%+v, want an error with %q", a, want)
				}
				delete(words, a.Name)
				continue
			}
			if !slices.Contains([]string{"inside", "hidden", "sparse1"}, a.Name) {
				t.Errorf("%+v", a)
			}
		}
		if len(words) > 0 {
			t.Errorf("missing: %v", words)
		}
		if !strings.HasPrefix(res.ArtifactsError, string(res.Value)+" names are no text") {
			t.Errorf("the list says %q", res.ArtifactsError)
		}
	})
	t.Run("very many files", func(t *testing.T) {
		res := do(t, run.Script{Source: "for i in range(1500): open(str(i), 'w').close()", Artifacts: []string{"*"}}, policy.Limits{})
		if len(res.Artifacts) != filenames.MaxFiles || res.ArtifactsOmitted != 500 {
			t.Errorf("%s: %d and %d omitted", res.Error, len(res.Artifacts), res.ArtifactsOmitted)
		}
	})
}

// plant makes a file of the host that no guest may read.
func plant(t *testing.T, name string) {
	t.Helper()
	if err := newfile.Write(name, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func artifactNames(res run.Result) (names []string) {
	for _, a := range res.Artifacts {
		names = append(names, a.Name)
	}
	return names
}

// SessionFiles checks the /work of sessions.
func SessionFiles(t *testing.T, open Open, p policy.Policy) {
	p = p.Resolved()
	b := open(t, p)
	opened := func(t *testing.T) (*steps, run.Files) {
		s := openSteps(t, b, p.Limits)
		files, err := s.s.Files()
		if err != nil {
			t.Fatal(err)
		}
		return s, files
	}
	write := func(t *testing.T, files run.Files, name, text string) {
		t.Helper()
		if info, err := files.Write(name, strings.NewReader(text)); err != nil || info.Name != name || int(info.Size) != len(text) {
			t.Fatalf("%s: %+v %v", name, info, err)
		}
	}
	refused := func(t *testing.T, err error, class run.Class, words string) {
		t.Helper()
		if run.ClassOf(err) != class || !strings.Contains(fmt.Sprint(err), words) {
			t.Errorf("%v, want an error of class %s with %q", err, class, words)
		}
	}
	t.Run("both ways", func(t *testing.T) {
		s, files := opened(t)
		write(t, files, "data/a.csv", "1,2")
		s.shows("open('data/a.csv').read()", "'1,2'")
		s.shows("n = open('/work/b.txt', 'w').write('from inside')", "")
		list, err := files.List()
		if err != nil || len(list) != 2 || list[0].Name != "b.txt" || list[0].Size != 11 || list[0].Type != "text/plain" || time.Since(list[0].Modified) > time.Hour || list[1].Name != "data/a.csv" {
			t.Errorf("%+v %v", list, err)
		}
		f, info, err := files.Open("b.txt")
		if err != nil || info.Size != 11 {
			t.Fatalf("%+v %v", info, err)
		}
		defer f.Close()
		if _, err := f.Seek(5, io.SeekStart); err != nil {
			t.Error(err)
		}
		if rest, err := io.ReadAll(f); string(rest) != "inside" || err != nil {
			t.Errorf("%q %v", rest, err)
		}
		write(t, files, "data/a.csv", "replaced")
		s.shows("open('data/a.csv').read()", "'replaced'")
		if err := files.Remove("data"); err != nil {
			t.Error(err)
		}
		s.shows("import os; os.listdir()", "['b.txt']")
		write(t, files, "module_of_mine.py", "answer = 42")
		s.shows("import module_of_mine; module_of_mine.answer", "42")
	})
	t.Run("files of steps", func(t *testing.T) {
		s, _ := opened(t)
		job := s.job("open('out', 'w').write(open('in').read() * 2); n = 1")
		job.Script.Files, job.Script.Artifacts = []run.File{{Name: "in", Data: []byte("ab")}}, []string{"*"}
		res, err := s.try(job)
		if err != nil || len(res.Artifacts) != 1 || string(res.Artifacts[0].Data) != "abab" {
			t.Errorf("%+v %s %v", res.Artifacts, res.Error, err)
		}
	})
	t.Run("while a step runs", func(t *testing.T) {
		s, files := opened(t)
		began, done := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(began) })
		go func() {
			defer close(done)
			job := s.job("import os, time\nprint('began', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.001)\nopen('went', 'w').close()")
			job.Streams.Out = writer(func([]byte) { once() })
			if res, err := s.try(job); err != nil || !res.OK() {
				t.Errorf("%s %v", res.Error, err)
			}
		}()
		<-began
		write(t, files, "go", "")
		<-done
		if f, _, err := files.Open("went"); err != nil {
			t.Error(err)
		} else {
			f.Close()
		}
	})
	t.Run("names that are refused", func(t *testing.T) {
		_, files := opened(t)
		for _, name := range []string{"", ".", "..", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a\x00b", "a\nb", "\xff"} {
			_, err := files.Write(name, strings.NewReader("x"))
			refused(t, err, run.Invalid, "name")
			_, _, err = files.Open(name)
			refused(t, err, run.Invalid, "name")
			refused(t, files.Remove(name), run.Invalid, "name")
		}
		_, err := files.Write(strings.Repeat("x", 300), strings.NewReader("x"))
		refused(t, err, run.Invalid, "name")
		_, _, err = files.Open("none")
		refused(t, err, run.Unknown, "no such file")
		refused(t, files.Remove("none/none"), run.Unknown, "no such file")
	})
	t.Run("what the guest puts there", func(t *testing.T) {
		s, files := opened(t)
		outside := filepath.Join(t.TempDir(), "outside")
		if err := os.Mkdir(outside, 0o777); err != nil {
			t.Fatal(err)
		}
		plant(t, filepath.Join(outside, "secret"))
		s.run(fmt.Sprintf("import os\nos.symlink(%q, 'out')\nos.symlink('/', 'root')\nos.mkdir('dir')\nos.symlink('dir', 'inner')\nos.symlink('%s/new', 'dangling')", outside, outside), run.Succeeded)
		_, _, err := files.Open("out/secret")
		refused(t, err, run.Invalid, "escapes")
		_, _, err = files.Open("root/etc/passwd")
		refused(t, err, run.Invalid, "escapes")
		_, _, err = files.Open("out")
		refused(t, err, run.Invalid, "symbolic link")
		_, _, err = files.Open("dir")
		refused(t, err, run.Invalid, "a directory")
		_, err = files.Write("out/planted", strings.NewReader("x"))
		refused(t, err, run.Invalid, "out/planted")
		_, err = files.Write("dir", strings.NewReader("x"))
		refused(t, err, run.Invalid, "dir")
		// A link is replaced, and never written through.
		write(t, files, "dangling", "x")
		write(t, files, "inner/through", "x") // stays inside
		refused(t, files.Remove("out/secret"), run.Invalid, "escapes")
		if err := files.Remove("out"); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(outside)
		if err != nil || len(left) != 1 || left[0].Name() != "secret" {
			t.Errorf("the host's directory has changed: %v %v", left, err)
		}
		list, err := files.List()
		var lines []string
		for _, info := range list {
			lines = append(lines, strings.TrimSpace(info.Name+" "+string(info.Kind)))
		}
		if want := []string{"dangling", "dir/through", "inner link", "root link"}; !slices.Equal(lines, want) || err != nil {
			t.Errorf("%q %v", lines, err)
		}
	})
	t.Run("a guest that swaps names", func(t *testing.T) {
		s, files := opened(t)
		began, done := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(began) })
		go func() {
			defer close(done)
			job := s.job(`
import os, time
print('began', flush=True)
os.mkdir('real')
open('real/f', 'w').write('mine')
end = time.time() + 1
while time.time() < end:
    os.symlink('/etc', 'd'); os.unlink('d'); os.rename('real', 'd'); os.rename('d', 'real')
    os.mkdir('real/p'); os.rmdir('real/p'); open('real/p', 'w').close(); os.unlink('real/p')
`)
			job.Streams.Out = writer(func([]byte) { once() })
			if res, err := s.try(job); err != nil || !res.OK() {
				t.Errorf("%s %v\n%s", res.Error, err, res.Stderr)
			}
		}()
		<-began
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, name := range []string{"d/passwd", "d/f", "real/p"} {
				f, _, err := files.Open(name)
				if err != nil {
					continue
				}
				if text, _ := io.ReadAll(f); strings.Contains(string(text), "root:") {
					t.Errorf("%s is the host's:\n%s", name, text)
				}
				f.Close()
			}
			_, _ = files.List()
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		s, files := opened(t)
		_, err := files.Write("large", bytes.NewReader(make([]byte, p.Limits.Scratch+1)))
		refused(t, err, run.Invalid, "no room left")
		s.shows("import os; os.listdir()", "[]")
		write(t, files, "small", "x")
		for i := 0; ; i++ {
			if _, err = files.Write(fmt.Sprint(i), strings.NewReader("")); err != nil {
				break
			}
		}
		refused(t, err, run.Invalid, "no room left")
		s.shows("open('small').read()", "'x'")
	})
	t.Run("/work is replaced", func(t *testing.T) {
		s, files := opened(t)
		s.run("import os\nos.chdir('/tmp')\nos.rename('work', 'moved')\nos.symlink('/etc', 'work')", run.Succeeded)
		write(t, files, "a", "x") // in the directory that was opened first
		s.shows("os.listdir('/tmp/moved')", "['a']")
		late := openSteps(t, b, p.Limits)
		late.run("import os\nos.chdir('/tmp')\nos.rename('work', 'moved')\nos.symlink('/etc', 'work')", run.Succeeded)
		_, err := late.s.Files()
		refused(t, err, run.Invalid, "/work")
	})
	t.Run("after the end", func(t *testing.T) {
		s, files := opened(t)
		write(t, files, "a", "kept")
		f, _, err := files.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s.run("import os; os._exit(1)", run.Exited)
		if text, err := io.ReadAll(f); string(text) != "kept" || err != nil {
			t.Errorf("%q %v", text, err)
		}
		_, err = files.List()
		refused(t, err, run.Gone, "closed")
		_, err = s.s.Files()
		refused(t, err, run.Gone, "ended")
	})
	t.Run("restricted", func(t *testing.T) {
		s, err := b.(backend.SessionOpener).OpenSession(t.Context(), backend.SessionOptions{Restricted: true, Limits: p.Limits})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Files()
		refused(t, err, run.Invalid, "language rules")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
