package main

import "testing"

func TestLineID(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": "a", "scrpt": ""}`: `"a"`, `{"id": 7}`: "7", `{"id": "a"`: "null", `[]`: "null", `nonsense`: "null", `{}`: "null",
		`{"id": "a", "script": "a line that was c`: `"a"`, `{"id": "b", nonsense`: `"b"`, `{"id": 7, "x": [[[`: "7",
		`{"id": 7`: "null", `{"id": "a`: "null", `{"id": {"a": 1`: "null", `["id", "a", `: "null", `{"script": "", "id": "a", `: "null",
	} {
		if got := string(line{text: []byte(text)}.id()); got != want {
			t.Errorf("id of %s: %s; want %s", text, got, want)
		}
	}
}
