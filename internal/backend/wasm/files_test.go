package wasm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// outside returns two granted directories and one beside them with a secret.
func outside(t *testing.T) (read, write, secret string) {
	t.Helper()
	base := t.TempDir()
	read, write, secret = filepath.Join(base, "read"), filepath.Join(base, "write"), filepath.Join(base, "secret")
	for _, directory := range []string{read, write} {
		if err := os.Mkdir(directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{filepath.Join(read, "file"): "granted", secret: "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": secret, "up": "../secret", "in": "file"} {
		if err := os.Symlink(to, filepath.Join(read, name)); err != nil {
			t.Fatal(err)
		}
	}
	return read, write, secret
}

func TestGrants(t *testing.T) {
	read, write, secret := outside(t)
	onBoth(t, func(t *testing.T, options Options) {
		options.Policy = policy.Policy{Read: []string{read}, Write: []string{write}}
		b := newBench(t, options)
		m := b.open(goGuest(t))
		for _, test := range []struct {
			args  []string
			words string
			tried string // the expected violation
		}{
			{[]string{"read", read + "/file"}, "granted <nil>", ""},
			{[]string{"read", read + "/in"}, "granted <nil>", ""},
			{[]string{"read", read + "/out"}, "Operation not permitted", "out"},
			{[]string{"read", read + "/up"}, "Operation not permitted", "up"},
			{[]string{"read", secret}, "open " + secret, ""},
			{[]string{"read", read + "/../secret"}, "open ", ""},
			{[]string{"list", read}, "4 [", ""},
			{[]string{"write", read + "/new", "x"}, "Read-only file system", "new"},
			{[]string{"write", read + "/file", "x"}, "Read-only file system", "file"},
			{[]string{"write", write + "/new", "words"}, "<nil>", ""},
			{[]string{"read", write + "/new"}, "words <nil>", ""},
		} {
			r := b.run(m, run.Request{Module: run.ModuleRun{Args: test.args}})
			if strings.Contains(r.Stdout, "secret <nil>") || !strings.Contains(r.Stdout, test.words) {
				t.Errorf("%v: %s%s", test.args, r.Stdout, r.Error)
			}
			tried := ""
			for _, v := range r.Violations {
				tried += v.Op + " " + v.Detail
			}
			if !strings.Contains(tried, test.tried) || test.tried == "" && tried != "" {
				t.Errorf("%v: violations %q", test.args, tried)
			}
		}
		if text, err := os.ReadFile(filepath.Join(write, "new")); err != nil || string(text) != "words" {
			t.Errorf("%q %v", text, err)
		}
		r := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"fill", write + "/much", "64"}}, Limits: policy.Limits{Disk: 4 * policy.MiB}})
		expect(t, r, run.OutOfDisk, "disk limit of 4MiB reached")
		if info, err := os.Stat(filepath.Join(write, "much")); err != nil || info.Size() > 4<<20 {
			t.Errorf("%v %v", info, err)
		}
	})
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("the secret is %q, %v", text, err)
	}
}

func TestRelativeGrants(t *testing.T) {
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, Options{Cache: testCache, Policy: policy.Policy{Read: []string{filepath.Join(here, "c")}}})
	m := b.open(goGuest(t))
	for _, path := range []string{"testdata/c/hello.c", "/testdata/c/hello.c", filepath.Join(here, "c/hello.c")} {
		expect(t, b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"read", path}}}), run.Succeeded, "hello from C")
	}
}

func TestMissingGrant(t *testing.T) {
	_, err := New(Options{Policy: policy.Policy{Read: []string{"/nowhere/at/all"}}})
	if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Error(err)
	}
}
