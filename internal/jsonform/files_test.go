package jsonform

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

func TestParseFiles(t *testing.T) {
	req, err := ParseRequest([]byte(`{"script": "pass", "files": [{"name": "a", "text": "é"}, {"base64": "AP8=", "name": "b"}, {"name": "c", "text": ""}, {"name": "d", "path": "/x"}], "artifacts": ["*.png"], "args": ["-v"]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := req.Script.Files
	if len(got) != 4 || string(got[0].Data) != "é" || string(got[1].Data) != "\x00\xff" || len(got[2].Data) != 0 || got[3].Path != "/x" || req.Script.Artifacts[0] != "*.png" || req.Script.Args[0] != "-v" {
		t.Errorf("%+v", req.Script)
	}
	if req, err := ParseRequest([]byte(`{"script": "pass", "files": null}`)); err != nil || req.Script.Files != nil {
		t.Errorf("%+v %v", req.Script, err)
	}
	for body, words := range map[string]string{
		`{"a": "x"}`:      "request: files: expected a list of files, got a JSON object",
		`["x"]`:           "request: files[0]: expected an object, got a JSON string",
		`[{"name": "a"}]`: "request: files[0]: needs one of text, base64 and path, and has 0 of them",
		`[null]`:          "request: files[0]: needs one of text, base64 and path, and has 0 of them",
		`[{"name": "a", "text": "", "path": "/b"}]`:               "request: files[0]: needs one of text, base64 and path, and has 2 of them",
		`[{"name": "a", "text": ""}, {"name": "b", "data": "x"}]`: "request: files[1].data: unknown field: the fields of files[1] are name, text, base64, path",
		`[{"Name": "a", "text": ""}]`:                             "request: files[0].Name: unknown field",
		`[{"name": "a", "name": "b", "text": ""}]`:                "request: files[0].name: is there twice",
		`[{"name": 1, "text": ""}]`:                               "request: files[0].name: expected a string, got a JSON number",
		`[{"name": "a", "base64": "?"}]`:                          "request: files[0].base64: not base64: a wrong character at offset 0",
		`[{"name": "a", "base64": 1}]`:                            "request: files[0].base64: expected a text in base64, got a JSON number",
		`[{"name": "a", "text": ""}`:                              "request: not valid JSON",
	} {
		_, err := ParseRequest([]byte(`{"script": "pass", "files": ` + body + `}`))
		if run.ClassOf(err) != run.Invalid || !strings.HasPrefix(err.Error(), words) {
			t.Errorf("%s: %v, want %s", body, err, words)
		}
	}
}

// Encode writes artifacts as MarshalJSON does.
func TestEncodeArtifacts(t *testing.T) {
	result := run.Result{ArtifactsOmitted: 3, ArtifactsError: `2 "names"`, Artifacts: []run.Artifact{
		{Name: `a"}`, Size: 3, Type: "text/plain", Hash: "12", Data: []byte("a\"}")}, {Name: "empty", Hash: "0"}, {Name: "b", Size: 9, Data: []byte("no"), Error: `too "}`}, {Name: "c", Data: bytes.Repeat([]byte{0, 255}, pieceSize)},
	}}
	var got bytes.Buffer
	if err := Encode(&got, result); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(got.String()) != string(want) {
		t.Errorf("%.2000s\n%.2000s", got.String(), want)
	}
	if failed := `,{"name":"b","bytes":9,"type":"","error":"too \"}"},`; !strings.Contains(got.String(), failed) {
		t.Errorf("%.2000s does not have %s", got.String(), failed)
	}
}
