package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// shortTempDir returns a directory that is short enough for the path of a Unix socket, and
// open to all users.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cdn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func plant(t *testing.T) *Canaries {
	t.Helper()
	c, err := Plant(filepath.Join(shortTempDir(t), "c"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCheckReportsNothingForUntouchedCanaries(t *testing.T) {
	c := plant(t)
	if touched := c.Check(); len(touched) > 0 {
		t.Errorf("touched: %v", touched)
	}
	for key, value := range c.Context() {
		text, ok := value.(string)
		for name, secret := range c.secrets {
			if ok && strings.Contains(text, secret) {
				t.Errorf("the context has the secret of %s in %s", name, key)
			}
		}
	}
}

func TestCheckReportsChangedFiles(t *testing.T) {
	for name, touch := range map[string]func(path string) error{
		"write":    func(p string) error { return os.WriteFile(p, []byte("x"), 0) },
		"truncate": func(p string) error { return os.Truncate(p, 0) },
		"chmod":    func(p string) error { return os.Chmod(p, 0o700) },
		"remove":   os.Remove,
	} {
		c := plant(t)
		if err := touch(c.Context()["writable_file"].(string)); err != nil {
			t.Fatal(err)
		}
		if touched := c.Check(); len(touched) != 1 {
			t.Errorf("%s: touched %v", name, touched)
		}
		if touched := c.Check(); len(touched) != 0 {
			t.Errorf("%s: the next attempt would be blamed: %v", name, touched)
		}
	}
	c := plant(t)
	if err := os.Mkdir(filepath.Join(c.Context()["writable_dir"].(string), "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if touched := c.Check(); len(touched) != 1 {
		t.Errorf("directory: touched %v", touched)
	}
	if touched := c.Check(); len(touched) != 0 {
		t.Errorf("the next attempt would be blamed: %v", touched)
	}
}

func TestSpotFindsSecretsAnywhere(t *testing.T) {
	c := plant(t)
	secret := c.secrets["environment"]
	for name, res := range map[string]run.Result{
		"stdout":    {Stdout: "…" + secret},
		"value":     {Value: []byte(`"` + secret + `"`)},
		"exception": {Exception: &run.Exception{Message: secret}},
		"shout":     {Stdout: c.Context()["shout"].(string)},
	} {
		if len(c.Spot(res)) != 1 {
			t.Errorf("not seen in %s", name)
		}
	}
	if spotted := c.Spot(run.Result{Stdout: c.mark}); len(spotted) > 0 {
		t.Errorf("the mark alone is not a secret: %v", spotted)
	}
}

func TestCloseRemovesEverything(t *testing.T) {
	c := plant(t)
	name := c.Context()["env_name"].(string)
	if os.Getenv(name) == "" {
		t.Error("no variable was set")
	}
	c.Close()
	if _, set := os.LookupEnv(name); set {
		t.Error("the variable is still set")
	}
	if _, err := os.Stat(c.dir); err == nil {
		t.Error("the directory still exists")
	}
}
