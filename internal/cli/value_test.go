package cli

import (
	"os"
	"strings"
	"testing"
)

const stdin = `"standard input"`

func TestValue(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"state.json": `"the file"`, "42": `"the file"`, "bom.json": "\ufeff1", "bad.json": "{\n  'a': 1}"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for value, want := range map[string]string{
		"@state.json": `"the file"`, "@./state.json": `"the file"`, "@42": `"the file"`, "@bom.json": "1",
		"-": stdin, "@-": stdin,
		"42": "42", "-1.5": "-1.5", "true": "true", "null": "null", `"x"`: `"x"`, "[1]": "[1]", ` {"a": 1}`: `{"a": 1}`,
		"123456789012345678901234567890": "123456789012345678901234567890",
		`{"a": `:                         "!not valid JSON at column 6: the JSON ends too early: } is missing",
		"{\n1}":                          "!not valid JSON at line 2, column 1: a name has double quotes",
		"None":                           "!not valid JSON at column 1: JSON has no None: write null",
		"state.json":                     `!write "state.json", or @state.json for the file`,
		"./other":                        "!or @./other for the file",
		"{a:":                            "!and put single quotes around the whole value for the shell",
		"@bad.json":                      `!bad.json:2:3: not valid JSON: a name has double quotes: write "a"`,
		"@":                              "!the name of a file is missing after @",
		"@none":                          "!none does not exist",
		"@.":                             "!. is a directory: name a file in it",
		"@/dev/null":                     "!/dev/null is empty: it needs a JSON value",
		"@/dev/zero":                     "!/dev/zero is larger than",
		" ":                              "!is empty: write a JSON value",
	} {
		got, err := Value("--state", value, strings.NewReader(stdin))
		words, wrong := strings.CutPrefix(want, "!")
		switch {
		case wrong && (err == nil || !strings.HasPrefix(err.Error(), "--state: ") || !strings.Contains(err.Error(), words)):
			t.Errorf("%q: error %v; want %q", value, err, words)
		case !wrong && (err != nil || strings.TrimSpace(string(got)) != want):
			t.Errorf("%q: %s, %v; want %s", value, got, err, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("secret", []byte("in a file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": "", "itself": "itself", "@secret": "in a file", "-": "standard input"} {
		if got, err := Text("--token", value, strings.NewReader("standard input\n")); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", value, got, err, want)
		}
	}
	if _, err := Text("--token", "@none", nil); err == nil || err.Error() != "--token: none does not exist" {
		t.Errorf("error %v", err)
	}
}

func TestOneClaim(t *testing.T) {
	yes, no := Claim{"--a", true}, Claim{"--b", false}
	for want, claims := range map[string][]Claim{
		"":                        {yes, no, no},
		"--a and --c both read":   {yes, no, {"--c", true}},
		"--a, --c, --d all read ": {yes, {"--c", true}, {"--d", true}},
	} {
		if err := OneClaim(claims...); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%v: %v; want %q", claims, err, want)
		}
	}
}
