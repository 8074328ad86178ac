package filenames

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		pattern string
		matches []string
		not     []string
	}{
		{"*.png", []string{"a.png", ".png"}, []string{"a/b.png", "a.png.txt", "apng"}},
		{"**", []string{"a", "a/b", "a/b/c"}, nil},
		{"**/*.png", []string{"a.png", "d/a.png", "d/e/a.png"}, []string{"a.txt", "a.png/b"}},
		{"out/**", []string{"out/a", "out/b/c"}, []string{"other/a", "outer"}},
		{"a/**/z", []string{"a/z", "a/b/z", "a/b/c/z"}, []string{"a/b", "z", "b/a/z"}},
		{"**/a/**/b/**", []string{"a/b", "x/a/y/b/z", "a/a/b/b"}, []string{"b/a", "a"}},
		{"out/?[0-9]", []string{"out/a1"}, []string{"out/1", "out/ab", "a1"}},
	} {
		for _, name := range test.matches {
			if !Match(test.pattern, name) {
				t.Errorf("%q does not match %q", test.pattern, name)
			}
		}
		for _, name := range test.not {
			if Match(test.pattern, name) {
				t.Errorf("%q matches %q", test.pattern, name)
			}
		}
	}
}

// Names and patterns come from people who may want a match to take long.
func TestMatchIsQuick(t *testing.T) {
	pattern, name := strings.Repeat("**/a/", 200)+"b", strings.Repeat("a/", 2000)+"c"
	if Match(pattern, name) {
		t.Error("it matches")
	}
}
