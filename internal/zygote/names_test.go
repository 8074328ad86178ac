package zygote

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The parts of the program share their names: a second definition would silently replace the
// first.
func TestPartsDefineDifferentNames(t *testing.T) {
	top := regexp.MustCompile(`(?m)^(?:def|class) (\w+)|^([A-Z_]+(?:, [A-Z_]+)*) = `)
	word := regexp.MustCompile(`\w+`)
	defined := map[string]string{}
	files, err := filepath.Glob("python/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"script", "failures", "values", "randomness", "fonts", "hook", "plots", "session"} {
		files = append(files, "../script/python/"+part+".py")
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]string{}
		for _, found := range top.FindAllStringSubmatch(string(source), -1) {
			for _, name := range word.FindAllString(found[1]+found[2], -1) {
				if before := defined[name]; before != "" {
					t.Errorf("%s defines %s, and so does %s", file, name, before)
				}
				own[name] = file
			}
		}
		maps.Copy(defined, own)
	}
	if len(defined) < 100 {
		t.Errorf("only %d names were found", len(defined))
	}
}
