package wasm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A single run starts with a kept image. A damaged or old one is replaced, and the run
// succeeds.
func TestKeptImages(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	directory := t.TempDir()
	seed := func() string {
		b := pythonBench(t, Options{OneShot: true, Cache: directory})
		return string(b.script(run.Request{Script: run.Script{Source: "result = hash('abc')"}}).Value)
	}
	image := func() string {
		found, err := filepath.Glob(filepath.Join(directory, "python-*.image"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v %v", found, err)
		}
		return found[0]
	}
	first := seed()
	if second := seed(); second != first {
		t.Errorf("%s and %s: the image was not kept", first, second)
	}
	text, err := os.ReadFile(image())
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(image(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	third := seed()
	if third == first || third == "" {
		t.Errorf("%s again, of an image that was damaged", third)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(image(), old, old); err != nil {
		t.Fatal(err)
	}
	if fourth := seed(); fourth == third {
		t.Errorf("%s again, of an image that was old", fourth)
	}
}

// Each kind of interpreter has its own kept image.
func TestKeptImagesAreOfOneKind(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	directory := t.TempDir()
	known := map[string]bool{}
	one := func(restricted bool, preload ...string) (image string) {
		t.Helper()
		b := pythonBench(t, Options{OneShot: true, Cache: directory, Policy: policy.Policy{Preload: preload}})
		r := b.script(run.Request{Script: run.Script{Source: "result = 1", Restricted: restricted}})
		if string(r.Value) != "1" {
			t.Errorf("%s %s", r.Outcome, r.Error)
		}
		if r = b.script(run.Request{Script: run.Script{Source: "import os", Restricted: restricted}}); r.OK() == restricted {
			t.Errorf("restricted %v: %s %s", restricted, r.Outcome, r.Error)
		}
		found, err := filepath.Glob(filepath.Join(directory, "python-*.image"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if !known[path] {
				known[path], image = true, path
			}
		}
		return image
	}
	plain, strict, other := one(false), one(true), one(false, "json")
	if len(known) != 3 {
		t.Errorf("%s, %s and %s", plain, strict, other)
	}
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strict, text, 0o600); err != nil {
		t.Fatal(err)
	}
	one(true) // with a new image
}
