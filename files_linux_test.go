package cordon_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestFilesOfRuns(t *testing.T) {
	script := func(size policy.Bytes) run.Script {
		return run.Script{
			Source: "import os\ns = os.statvfs('/work')\nresult = s.f_blocks * s.f_frsize", Files: []run.File{{Name: "in", Data: make([]byte, size)}},
		}
	}
	for _, oneShot := range []bool{false, true} {
		r := newRunner(t, cordon.Options{OneShot: oneShot})
		for _, test := range []struct {
			size, asked policy.Bytes
			want        string
		}{
			{policy.MiB, 0, "16777216"},
			{9 * policy.MiB, 0, "26214400"}, // more than half of the usual space: it grows
			{60 * policy.MiB, 0, "67108864"},
			{9 * policy.MiB, 10 * policy.MiB, "10485760"}, // the request has chosen
		} {
			res, err := r.Run(t.Context(), run.Request{Script: script(test.size), Limits: policy.Limits{Scratch: test.asked}})
			if err != nil || string(res.Value) != test.want {
				t.Errorf("%v in %v: %s %s %v", test.size, test.asked, res.Value, res.Error, err)
			}
		}
		for words, req := range map[string]run.Request{
			"files: they have 9MiB, and the scratch space is 8MiB": {Script: script(9 * policy.MiB), Limits: policy.Limits{Scratch: 8 * policy.MiB}},
			"the language rules let no script":                     {Script: run.Script{Source: "pass", Restricted: true, Artifacts: []string{"*"}}},
			"files[0].path: /nowhere does not exist":               {Script: run.Script{Source: "pass", Files: []run.File{{Name: "a", Path: "/nowhere"}}}},
		} {
			if _, err := r.Run(t.Context(), req); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%v, want %q", err, words)
			}
		}
	}
}

func TestFilesOfSessions(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	s := openSession(t, r, run.SessionOptions{})
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write("a", strings.NewReader("1")); err != nil {
		t.Fatal(err)
	}
	gives(t, s, "open('a', 'a').write('2'); result = open('/work/a').read()", `"12"`)
	f, _, err := files.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if data, err := io.ReadAll(f); string(data) != "12" || err != nil {
		t.Errorf("%q %v", data, err)
	}
	if _, err := files.Write("b", strings.NewReader("1")); run.ClassOf(err) != run.Gone {
		t.Errorf("%v", err)
	}
}

// Where the guest sees files of the host below /work, its own have another name.
func TestGrantsAtWork(t *testing.T) {
	remove := func(name string) {
		t.Cleanup(func() {
			// Another run of this test may use /work at the same time.
			if err := os.Remove(name); err != nil && !errors.Is(err, unix.ENOTEMPTY) {
				t.Error(err)
			}
		})
	}
	if err := os.Mkdir("/work", 0o755); err == nil {
		remove("/work")
	} else if !errors.Is(err, fs.ErrExist) {
		hosttest.Lacks(t, "only root can make /work: %v", err)
	}
	granted, err := os.MkdirTemp("/work", "cordon-test-")
	if err != nil {
		hosttest.Lacks(t, "/work cannot be written to: %v", err)
	}
	remove(granted)
	r := newRunner(t, cordon.Options{Policy: policy.Policy{Read: []string{granted}}})
	res := mustRun(t, r, run.Request{Script: run.Script{
		Source: "import os, sys\nresult = [os.getcwd(), sys.path[0], os.path.isdir('" + granted + "')]\nopen('a', 'w').write('x')", Artifacts: []string{"*"},
	}})
	if string(res.Value) != `["/tmp/work","/tmp/work",true]` || len(res.Artifacts) != 1 {
		t.Errorf("%s %s %+v", res.Value, res.Error, res.Artifacts)
	}
}
