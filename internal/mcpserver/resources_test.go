package mcpserver_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/token"
)

// What a resource says of itself is what it is.
func TestTypesOfResources(t *testing.T) {
	client := startStdio(t, fakeServer(t, nil))
	c := client.asking(t)
	for name, want := range map[string][2]string{
		"a.png": {"text", "text/plain"}, "a.svg": {"<svg/>", "image/svg+xml"}, "b.svg": {"\x00", "application/octet-stream"}, "a.csv": {"1", "text/csv"}, "a.pdf": {"text", "text/plain"},
		"a.bin": {"text", "text/plain"}, "b.bin": {"\x00", "application/octet-stream"}, "b.png": {tinyPNG, "image/png"}, "c.png": {"\x00", "application/octet-stream"}, "a.xlsx": {"PK\x03\x04\x00", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	} {
		c("write_file", given{"session": "main", "name": name, "base64": base64.StdEncoding.EncodeToString([]byte(want[0]))})
		got := client.ask(t, requestLine(8, "resources/read", given{"uri": "cordon://session/main/files/" + name})).Result["contents"].([]any)[0].(map[string]any)
		if got["mimeType"] != want[1] {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A URI is what a client makes of it. Each answer is JSON, and no other file is found.
func TestResourcesByUnusualURIs(t *testing.T) {
	client := startStdio(t, fakeServer(t, nil))
	c := client.asking(t)
	c("write_file", given{"session": "main", "name": "a b/ü%#?&+.csv", "text": "1"})
	c("write_file", given{"session": "main", "name": "b", "text": "2"})
	read := func(uri string) (text string, code int, message string) {
		t.Helper()
		a := client.ask(t, requestLine(9, "resources/read", given{"uri": uri}))
		if a.Error != nil {
			return "", a.Error.Code, a.Error.Message
		}
		contents := a.Result["contents"].([]any)[0].(map[string]any)
		text, _ = contents["text"].(string)
		return text, 0, ""
	}
	list := client.ask(t, requestLine(8, "resources/list", given{})).Result["resources"].([]any)
	if len(list) != 2 {
		t.Fatalf("%v", list)
	}
	for i, want := range []string{"1", "2"} {
		resource := list[i].(map[string]any)
		if text, _, message := read(resource["uri"].(string)); text != want || resource["title"] != "main: "+resource["name"].(string) {
			t.Errorf("%v: %q %s", resource, text, message)
		}
	}
	if text, _, message := read("cordon://session/main/files/a b/ü%25#?&+.csv"); text != "1" {
		t.Errorf("%q %s", text, message)
	}
	for uri, want := range map[string]string{
		"": "no such resource", "x": "no such resource", "cordon://session/main/b": "no such resource", "cordon://run/files/b": "no such resource", "cordon://session/main/files/%zz": "no such resource",
		"cordon://session//files/b": "no such resource", "cordon://session/a b/files/b": "no such resource", "\x01\x7f\u202e\\": "no such resource", "cordon://session/main/files/": "path below /work",
		"cordon://session/main/files/\x01": "control characters", "cordon://session/main/files/../b": "path below /work", "cordon://session/main/files/%2e%2e%2fb": "path below /work",
		"cordon://session/main/files//etc/passwd": "no slash", "cordon://session/none/files/b": "there is no session none: yours are main", "cordon://session/main/files/\u202e": "no such file",
		"cordon://session/main/files/" + strings.Repeat("x/", 5000): "at most 1024 bytes",
	} {
		if _, code, message := read(uri); code != -32602 || !strings.Contains(message, want) {
			t.Errorf("%.80q: %d %s", uri, code, message)
		}
	}
	for _, line := range []string{requestLine(9, "resources/list", given{"cursor": "x"}), requestLine(9, "resources/subscribe", given{"uri": "x"}), requestLine(9, "resources/read", nil), requestLine(9, "resources/read", given{"uri": 1})} {
		if a := client.ask(t, line); a.Error == nil {
			t.Errorf("%s: %v", line, a.Result)
		}
	}
}

func TestResourcesAreBounded(t *testing.T) {
	s := fakeServer(t, nil)
	client := startStdio(t, s)
	c := client.asking(t)
	c("write_file", given{"session": "main", "name": "a", "text": ""})
	inWork(t, s, token.Local, func(directory string) {
		for i := range 1500 {
			if err := os.WriteFile(filepath.Join(directory, fmt.Sprintf("many%04d", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name, size := range map[string]int{"long.txt": 1 << 20, "large.txt": 3<<20 + 1} {
			if err := os.WriteFile(filepath.Join(directory, name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	if list := client.ask(t, requestLine(8, "resources/list", given{})).Result["resources"].([]any); len(list) != 1000 {
		t.Errorf("%d resources", len(list))
	}
	// What is too long for a model is still there for a program.
	contents := client.ask(t, requestLine(8, "resources/read", given{"uri": "cordon://session/main/files/long.txt"})).Result["contents"].([]any)[0].(map[string]any)
	if blob, _ := contents["blob"].(string); len(blob) != 1398104 || contents["mimeType"] != "text/plain" {
		t.Errorf("%d bytes of %v", len(blob), contents["mimeType"])
	}
	if a := client.ask(t, requestLine(8, "resources/read", given{"uri": "cordon://session/main/files/large.txt"})); a.Error == nil || a.Error.Message != "large.txt has 3145729 bytes, and an answer holds 3145728: read_file reads parts of it" {
		t.Errorf("%+v", a)
	}
	c.want(t, "run_python", given{"session": "empty", "code": "print x"}, "", "x")
	c.want(t, "list_files", given{"session": "empty"}, "", "Files in /work: 0.")
	c.want(t, "read_file", given{"session": "main", "name": "many0000"}, "", "many0000 is complete: 0 bytes")
	empty := client.ask(t, requestLine(8, "resources/read", given{"uri": "cordon://session/main/files/a"})).Result["contents"].([]any)[0].(map[string]any)
	if blob, there := empty["blob"]; !there || blob != "" {
		t.Errorf("an empty file: %v", empty)
	}
}
