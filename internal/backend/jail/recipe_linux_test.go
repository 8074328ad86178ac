package jail

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// The checked program and the one that the guest's execvp finds must be the same file.
func TestSearchUsesTheGuestsPath(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, searchPath},
		{map[string]string{"PATH": "/a:/b/c"}, []string{"/a", "/b/c"}},
		{map[string]string{"PATH": ""}, []string{""}},
		{map[string]string{"PATH": ":/usr/bin:bin"}, []string{"", "/usr/bin", "bin"}},
	} {
		var job backend.Job
		job.Command.Env = test.env
		if got := searchDirectories(job); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q; want %q", test.env, got, test.want)
		}
		want := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
		if value, set := test.env["PATH"]; set {
			want = "PATH=" + value
		}
		if env := (recipe{}).environment(job, confine.Scratch, nil); !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

// A request with its own PATH cannot avoid the rule about interpreters.
func TestInterpreterOnPathOfRequestIsRefused(t *testing.T) {
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(workspace, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := hosttest.WriteProgram(filepath.Join(bin, "tool"), []byte("#!/bin/sh\necho ran\n")); err != nil {
		t.Fatal(err)
	}
	b := &Backend{mounts: []confine.Mount{{Path: "/usr"}, {Path: "/bin"}, {Path: "/lib"}, {Path: "/lib64"}}}
	r := recipe{workspace: directory{path: workspace}}
	for _, test := range []struct {
		path    string
		argv    []string
		refused bool
	}{
		{bin + ":/usr/bin", []string{"env", "tool"}, true},
		{bin + ":/usr/bin", []string{"tool"}, true},
		{"bin:/usr/bin", []string{"env", "tool"}, true},
		{bin + ":/usr/bin", []string{"env", "ls"}, false},
	} {
		var job backend.Job
		job.Command.Args, job.Command.Env = test.argv, map[string]string{"PATH": test.path}
		_, refusals, err := b.check(job, r, confine.Scratch)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(refusals) > 0; got != test.refused {
			t.Errorf("PATH=%s %q: refused %t: %+v", test.path, test.argv, got, refusals)
		}
	}
}
