package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Opening the cache prunes it.
func TestCacheIsBounded(t *testing.T) {
	caches := t.TempDir()
	if err := os.Chmod(caches, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", caches)
	directory := filepath.Join(caches, "cordon", "wasm")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(directory, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxCache+1); err != nil {
		t.Fatal(err)
	}
	if _, err := cacheDirectory(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(large); err == nil {
		t.Error("it is still there")
	}
}

// prune removes the least recently used files first, and no more than necessary.
func TestPrune(t *testing.T) {
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"new": 0, "below/middle": time.Hour, "old": 2 * time.Hour, "below/oldest": 3 * time.Hour} {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		var names []string
		for _, name := range []string{"new", "below/middle", "old", "below/oldest"} {
			if _, err := os.Stat(filepath.Join(directory, name)); err == nil {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct {
		most int64
		want string
	}{
		{400, "new below/middle old below/oldest"},
		{399, "new below/middle old"},
		{200, "new below/middle"},
		{0, ""},
	} {
		if err := prune(directory, step.most); err != nil {
			t.Fatal(err)
		}
		if got := left(); got != step.want {
			t.Errorf("of %d bytes: %q are left, want %q", step.most, got, step.want)
		}
	}
}
