package wasm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/run"
)

// cacheIn sets the user's cache directory, and returns cordon's directory in it.
func cacheIn(t *testing.T, caches string) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", caches)
	directory, err := filepath.EvalSymlinks(caches)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(directory, "cordon", "wasm")
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// private returns a directory in which no other user may write.
func private(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	chmod(t, directory, 0o700)
	return directory
}

// A guest that may write to the current directory or to a grant must not be able to write to
// the cache, whose content runs as machine code, not even through a link.
func TestCacheIsNotInGuestWritableDirectories(t *testing.T) {
	outside, workspace := private(t), private(t)
	link := filepath.Join(workspace, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(workspace)
	for _, test := range []struct {
		caches  string
		granted []string
		ours    bool
	}{
		{outside, nil, true},
		{workspace, nil, false},
		{link, nil, false},
		{outside, []string{outside}, false},
		{outside, []string{filepath.Join(outside, "cordon")}, false},
		{outside, []string{filepath.Join(outside, "other")}, true},
	} {
		cacheIn(t, test.caches)
		if got, err := engine.New(engine.Options{Granted: test.granted}).Directory(); (err == nil) != test.ours {
			t.Errorf("caches in %s, granted %v: %s, %v", test.caches, test.granted, got, err)
		}
	}
}

// The content of the cache runs without a check, so a directory that other users may write to
// is neither read nor written.
func TestCacheIsNotWritableByOthers(t *testing.T) {
	const foreign = 12345
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, directory string)
		fine  bool
	}{
		{"as it was made", func(*testing.T, string) {}, true},
		{"others may read", func(t *testing.T, directory string) { chmod(t, directory, 0o755) }, true},
		{"the group may write", func(t *testing.T, directory string) { chmod(t, directory, 0o770) }, false},
		{"all may write", func(t *testing.T, directory string) { chmod(t, directory, 0o702) }, false},
		{"all may exchange it", func(t *testing.T, directory string) { chmod(t, filepath.Dir(directory), 0o707) }, false},
		{"all may exchange what it is in", func(t *testing.T, directory string) { chmod(t, filepath.Dir(filepath.Dir(directory)), 0o777) }, false},
		{"all may add to what it is in", func(t *testing.T, directory string) {
			chmod(t, filepath.Dir(filepath.Dir(directory)), 0o777|os.ModeSticky)
		}, true},
		{"a link", func(t *testing.T, directory string) {
			other := private(t)
			if err := os.Remove(directory); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, directory); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := cacheIn(t, private(t))
			if got, err := engine.New(engine.Options{}).Directory(); err != nil || got != directory {
				t.Fatalf("%s %v", got, err)
			}
			if info, err := os.Stat(directory); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			test.spoil(t, directory)
			b := newBench(t, Options{})
			if facts := b.Facts(); (facts.NoCache == nil) != test.fine {
				t.Errorf("%+v", facts)
			}
			expect(t, b.run(b.open(moduleOf(nil)), run.Request{}), run.Succeeded, "") // in any case
			kept, err := os.ReadDir(directory)
			if err != nil || (len(kept) > 0) != test.fine {
				t.Errorf("%v %v", kept, err)
			}
		})
	}
	// A directory of another user.
	directory := "/usr"
	if os.Geteuid() == 0 {
		directory = private(t)
		if err := os.Chown(directory, foreign, foreign); err != nil {
			t.Fatal(err)
		}
	}
	if err := engine.OwnAlone(directory); err == nil {
		t.Errorf("%s is not ours", directory)
	}
	if os.Geteuid() == 0 {
		below := filepath.Join(directory, "below")
		if err := os.Mkdir(below, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := engine.OwnAlone(below); err == nil {
			t.Errorf("%s can be exchanged by the owner of what it is in", below)
		}
	}
	file := filepath.Join(private(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := engine.OwnAlone(file); err == nil {
		t.Error("a file was accepted as a directory")
	}
	if err := engine.OwnAlone(filepath.Join(private(t), "none")); err == nil {
		t.Error("there is none")
	}
}

// A home directory may be a link.
func TestCacheBehindALink(t *testing.T) {
	target, links := private(t), private(t)
	link := filepath.Join(links, "home")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	directory := cacheIn(t, link)
	if got, err := engine.New(engine.Options{}).Directory(); err != nil || got != directory || !strings.HasPrefix(got, target) {
		t.Errorf("%s %v, want %s", got, err, directory)
	}
}
