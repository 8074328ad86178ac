package run

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/filenames"
)

func TestFilesOfRequests(t *testing.T) {
	many := make([]File, filenames.MaxFiles+1)
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
