package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadLineKeepsNothingOfWhatIsTooLong(t *testing.T) {
	const most = 100
	text := strings.Repeat("a", most) + "\n" + strings.Repeat("b", most+1) + "\n" + strings.Repeat("c", 50*most) + "\nlast"
	r := bufio.NewReaderSize(strings.NewReader(text), 16)
	for i, want := range []struct {
		size    int
		tooLong bool
		end     bool
	}{{most + 1, false, false}, {0, true, false}, {0, true, false}, {4, false, true}} {
		l, err := readLine(r, most)
		if len(l.text) != want.size || l.tooLong != want.tooLong || errors.Is(err, io.EOF) != want.end {
			t.Errorf("line %d: %d bytes, too long: %v, error %v", i, len(l.text), l.tooLong, err)
		}
	}
}

func TestLineID(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": "a", "scrpt": ""}`: `"a"`, `{"id": 7}`: "7", `{"id": "a"`: "null", `[]`: "null", `nonsense`: "null", `{}`: "null",
	} {
		if got := string(line{text: []byte(text)}.id()); got != want {
			t.Errorf("id of %s: %s; want %s", text, got, want)
		}
	}
}
