package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestValueOrFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"state.json", "42", "[1]", "true"} {
		if err := os.WriteFile(name, []byte(`"the file"`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const file, stdin = `"the file"`, `"standard input"`
	for value, want := range map[string]string{
		"state.json": file, "@state.json": file, "./state.json": file, filepath.Join(".", "state.json"): file,
		"@42": file, "./42": file, "@[1]": file, "@true": file,
		"-": stdin, "@-": stdin,
		"42": "42", "-1.5": "-1.5", "true": "true", "null": "null", `"x"`: `"x"`, "[1]": "[1]", ` {"a": 1}`: `{"a": 1}`,
		`{"a": `: "!not valid JSON: unexpected end", "[1, 'x']": "!write \"text\"", `"x`: "!not valid JSON",
		"None": "!None does not exist", "@": "! does not exist", "1 2": "!1 2 does not exist",
	} {
		got, err := valueOrFile("--state", value, strings.NewReader(stdin))
		words, wrong := strings.CutPrefix(want, "!")
		switch {
		case wrong && (err == nil || !strings.HasPrefix(err.Error(), "--state: ") || !strings.Contains(err.Error(), words)):
			t.Errorf("%q: error %v; want %q", value, err, words)
		case !wrong && (err != nil || strings.TrimSpace(string(got)) != want):
			t.Errorf("%q: %s, %v; want %s", value, got, err, want)
		}
	}
}
