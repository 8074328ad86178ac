package arch

import (
	"path"
	"strings"
	"testing"
)

// textFunctions make text printable or cut it between characters. Only internal/text uses
// them, so that a fix reaches every message. The files listed here need them for something
// else.
var textFunctions = []string{"utf8.RuneStart", "strings.ToValidUTF8", "unicode.IsPrint", "strconv.IsPrint", "strconv.QuoteRune"}

var textElsewhere = map[string]string{
	"internal/httpapi/stream.go": "keeps back a character that the next piece of a stream completes",
	"internal/mcpserver/live.go": "replaces bytes of a guest's output that no JSON can hold",
	"internal/token/file.go":     "refuses names instead of changing them",
}

func TestTextIsCutInOnePackage(t *testing.T) {
	used := map[string]bool{}
	sources(t, ".go", func(name string, source []byte) {
		if strings.HasSuffix(name, "_test.go") || path.Dir(name) == "internal/text" {
			return
		}
		for _, function := range textFunctions {
			if strings.Contains(string(source), function+"(") {
				used[name] = true
				if textElsewhere[name] == "" {
					t.Errorf("%s uses %s: use internal/text", name, function)
				}
			}
		}
	})
	for name := range textElsewhere {
		if !used[name] {
			t.Errorf("the exception for %s is not needed", name)
		}
	}
}
