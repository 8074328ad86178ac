package main

import "testing"

func TestLineID(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": "a", "scrpt": ""}`: `"a"`, `{"id": 7}`: "7", `{"id": "a"`: "null", `[]`: "null", `nonsense`: "null", `{}`: "null",
	} {
		if got := string(line{text: []byte(text)}.id()); got != want {
			t.Errorf("id of %s: %s; want %s", text, got, want)
		}
	}
}
