package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestShared(t *testing.T) {
	for _, test := range []struct {
		begun string
		words []string
		want  string
	}{
		{"pl", []string{"platform", "platlibdir"}, "at"},
		{"", []string{"one"}, "one"},
		{"", []string{"one", "two"}, ""},
		{"x", nil, ""},
		{"ä", []string{"äé1", "äè2"}, ""}, // the second letters begin with the same byte
	} {
		if got := shared(test.begun, test.words); got != test.want {
			t.Errorf("%q %q: %q, want %q", test.begun, test.words, got, test.want)
		}
	}
}

func TestLastName(t *testing.T) {
	for line, want := range map[string]string{"": "", "x = ab": "ab", "a.b": "b", "a.": "", "f(größe": "größe", "a b ": ""} {
		if got := lastName(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestInColumns(t *testing.T) {
	if got, want := inColumns([]string{"a", "bbb", "cc"}, 12), "a    bbb  \ncc   \n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := inColumns([]string{"a", "b"}, 0); got != "a  \nb  \n" {
		t.Errorf("of an unknown width: %q", got)
	}
	if got := inColumns(slices.Repeat([]string{"a"}, 105), 80); !strings.HasSuffix(got, "\n… and 5 others\n") {
		t.Errorf("%q", got)
	}
}

func TestCompleteCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.csv", "b c.csv", "b'.csv", "new\nline", "sub/inner.csv"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &sessionConsole{}
	for line, want := range map[string][]string{
		"re":           {"reset"},
		"put ":         {"a.csv", "sub/"},
		"put sub/":     {"sub/inner.csv"},
		"put a.csv su": {"sub/"},
		"put nothing/": nil,
		"vars x":       nil,
		"unknown x":    nil,
	} {
		if _, got := c.completeCommand(line); !slices.Equal(got, want) {
			t.Errorf(":%s: %q, want %q", line, got, want)
		}
	}
}
