package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/run"
)

func textArtifact(name, data string) run.Artifact {
	return run.Artifact{Name: name, Size: 1, Data: []byte(data)}
}

// savedIn saves artifacts in a directory, and returns what is shown about it.
func savedIn(t *testing.T, directory string, res run.Result, how presentation) (lines string, err error) {
	t.Helper()
	d, err := openArtifacts(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer d.root.Close()
	saved := d.save(res)
	var shown bytes.Buffer
	if err := saved.show(&tap{ctx: t.Context(), to: &shown}, how); err != nil {
		t.Fatal(err)
	}
	return shown.String(), saved.err
}

// What is lost is shown in any case. The lines are bounded, whatever the guest makes.
func TestLostArtifactsAreShown(t *testing.T) {
	var res run.Result
	for i := range 15 {
		res.Artifacts = append(res.Artifacts, textArtifact(fmt.Sprint("saved", i), "x"),
			run.Artifact{Name: fmt.Sprint("lost", i), Error: "it is a symbolic link\x1b[2J"})
	}
	res.ArtifactsOmitted, res.ArtifactsError = 3, "some names cannot come back\x1b[2J"
	for name, how := range map[string]presentation{"for a person": {}, "quiet": {quiet: true}, "JSON": {json: true}} {
		directory := filepath.Join(t.TempDir(), "out")
		shown, err := savedIn(t, directory, res, how)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		count := fmt.Sprintf("cordon: saved: 15 files in %s (15B)\n", directory)
		if strings.Contains(shown, count) != (name == "for a person") {
			t.Errorf("%s: %s", name, shown)
		}
		lost := `cordon: not saved: some names cannot come back\x1b[2J` + "\n" + `cordon: not saved: lost0: it is a symbolic link\x1b[2J` + "\n"
		if !strings.Contains(shown, lost) || !strings.HasSuffix(shown, "cordon: not saved: and 7 more\n") {
			t.Errorf("%s: %s", name, shown)
		}
	}
	shown, err := savedIn(t, t.TempDir(), run.Result{ArtifactsOmitted: 1}, presentation{})
	if err != nil || shown != "cordon: not saved: 1 file above the maximum of 1000: choose with --artifact\n" {
		t.Errorf("%q, %v", shown, err)
	}
}

// The names are the guest's, and so may be what is in the directory: files of an earlier run.
func TestNoArtifactLeavesItsDirectory(t *testing.T) {
	outside := t.TempDir()
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for name, target := range map[string]string{"directory": outside, "file": precious, "dangling": filepath.Join(outside, "made")} {
		if err := os.Symlink(target, filepath.Join(directory, name)); err != nil {
			hosttest.Lacks(t, "%v", err) // Windows requires a privilege
		}
	}
	if err := os.Mkdir(filepath.Join(directory, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	shown, err := savedIn(t, directory, run.Result{Artifacts: []run.Artifact{
		textArtifact("directory/precious", "new"), textArtifact("directory/sub/x", "new"), textArtifact("../precious", "new"), textArtifact(precious, "new"),
		textArtifact("taken", "new"), textArtifact("file", "new"), textArtifact("dangling", "new"),
	}}, presentation{})
	if run.ClassOf(err) != run.Internal || !strings.Contains(err.Error(), "5 files could not be saved in "+directory) {
		t.Errorf("error %v", err)
	}
	for _, words := range []string{
		"not saved: directory/precious: path escapes from parent\n", "not saved: directory/sub/x: path escapes from parent\n",
		"not saved: ../precious: ", "not saved: " + precious + ": ", "not saved: taken: ", "saved: " + filepath.Join(directory, "file") + " (1B)\n",
	} {
		if !strings.Contains(shown, words) {
			t.Errorf("%q is not in %s", words, shown)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside are %v, %v", entries, err)
	}
	if data, err := os.ReadFile(precious); err != nil || string(data) != "precious" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"file", "dangling"} {
		if info, err := os.Lstat(filepath.Join(directory, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestHomeIsNoArtifactDirectory(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if _, err := openArtifacts(home); err == nil || !strings.Contains(err.Error(), "it is a home directory") {
		t.Errorf("error %v", err)
	}
	d, err := openArtifacts(filepath.Join(home, "new", "out"))
	if err != nil {
		t.Fatal(err)
	}
	d.root.Close()
}
