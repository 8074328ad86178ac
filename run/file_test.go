package run

import (
	"strings"
	"testing"
)

func TestMatchPattern(t *testing.T) {
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
			if !MatchPattern(test.pattern, name) {
				t.Errorf("%q does not match %q", test.pattern, name)
			}
		}
		for _, name := range test.not {
			if MatchPattern(test.pattern, name) {
				t.Errorf("%q matches %q", test.pattern, name)
			}
		}
	}
}

// Names and patterns come from people who may want a match to take long.
func TestMatchPatternIsQuick(t *testing.T) {
	pattern, name := strings.Repeat("**/a/", 200)+"b", strings.Repeat("a/", 2000)+"c"
	if MatchPattern(pattern, name) {
		t.Error("it matches")
	}
}

func TestFilesOfRequests(t *testing.T) {
	many := make([]File, MaxFiles+1)
	for i := range many {
		many[i].Name = strings.Repeat("x", i+1)
	}
	for words, script := range map[string]Script{
		`files[0].name: "../a": the name is a path below /work`:    {Files: []File{{Name: "../a"}}},
		`files[0].name: "": the name`:                              {Files: []File{{}}},
		`files[0].name: "/a": the name is a path below /work, and`: {Files: []File{{Name: "/a"}}},
		`files[0].name: "a\tb": a name has no control characters`:  {Files: []File{{Name: "a\tb"}}},
		`…: a name has at most 1024 bytes and 64 parts`:            {Files: []File{{Name: strings.Repeat("a/", 64) + "a"}}},
		`…: a name has at most 1024 bytes`:                         {Files: []File{{Name: strings.Repeat("a", 1025)}}},
		`files[1].name: "a" is there twice`:                        {Files: []File{{Name: "a"}, {Name: "a"}}},
		`files[0].path: the file has data, too`:                    {Files: []File{{Name: "a", Data: []byte("x"), Path: "/b"}}},
		`files: 1001 are above the maximum of 1000`:                {Files: many},
		`files: they have more than the maximum of 67108864 bytes`: {Files: []File{{Name: "a", Data: make([]byte, MaxPayload+1)}}},
		`artifacts[0]: "a/[": it has a [ without a ]`:              {Artifacts: []string{"a/["}},
		`artifacts[1]: "../*": the name is a path below /work`:     {Artifacts: []string{"*", "../*"}},
		"args[0]: \"a\\x00\" is not a text without NUL bytes":      {Args: []string{"a\x00"}},
	} {
		script.Source = "pass"
		err := Request{Script: script}.Validate()
		if ClassOf(err) != Invalid || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %s", err, words)
		}
	}
	for field, script := range map[string]Script{"files": {Files: []File{{Name: "a"}}}, "artifacts": {Artifacts: []string{"*"}}, "args": {Args: []string{"a"}}} {
		err := Request{Script: script, Command: Command{Args: []string{"ls"}}}.Validate()
		if ClassOf(err) != Invalid || !strings.HasPrefix(err.Error(), field+": this is for scripts") {
			t.Errorf("%v", err)
		}
	}
}
