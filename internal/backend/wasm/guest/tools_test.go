package guest

import (
	"bytes"
	"slices"
	"testing"
)

// The answer to a large invalid question is small, because it takes memory of the host.
func TestWrongQuestionsHaveShortAnswers(t *testing.T) {
	long := bytes.Repeat([]byte("\x7f"), 1<<20)
	for name, question := range map[string][]byte{
		"a tool that is not there": slices.Concat([]byte(`{"tool":"`), long, []byte(`"}`)),
		"a tool that is a number":  slices.Concat([]byte(`{"tool":1`), bytes.Repeat([]byte("0"), 1<<20), []byte(`}`)),
		"no JSON":                  long,
		"deep":                     bytes.Repeat([]byte("["), 1<<20),
		"a field of a long name":   slices.Concat([]byte(`{"args":{"`), long, []byte(`":1},"tool":2}`)),
	} {
		if answer := New(nil).answerTo(question); len(answer) > 2000 {
			t.Errorf("%s: %d bytes: %.100s", name, len(answer), answer)
		}
	}
}
