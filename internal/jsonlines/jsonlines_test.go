package jsonlines

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cordon-sandbox/cordon/run"
)

// TestLineID checks that the id is found even in lines that are malformed or cut off.
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

// TestUnreadLines checks that a client that does not read its answers cannot make the server hold
// more of them: a finished run keeps its slot until there is room for its answer.
func TestUnreadLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		s.room = sync.NewCond(&s.mu)
		large := run.Result{Stdout: strings.Repeat("x", maxUnsent/2+1)}
		first, second := s.hold(large), make(chan func())
		go func() { second <- s.hold(large) }()
		synctest.Wait()
		select {
		case <-second:
			t.Error("two answers are held, but there is room for only one")
		default:
		}
		s.hold(Failure{})() // a short answer always fits
		first()
		(<-second)()
		s.hold(run.Result{Stdout: strings.Repeat("x", 2*maxUnsent)})()
		if s.unsent != 0 {
			t.Errorf("%d bytes are held", s.unsent)
		}
	})
}

// TestLargeLines checks that a large answer, which is encoded while it is written, has the same
// text as an answer that is encoded in memory.
func TestLargeLines(t *testing.T) {
	for _, brief := range []bool{false, true} {
		var got strings.Builder
		s := &server{out: &got}
		result := run.Result{ID: "a", Status: run.StatusOK, Outcome: run.Succeeded, Stdout: strings.Repeat("ä<\n", small)}
		s.answer(order{Brief: brief}, result)
		want, err := marshalLine(result, brief)
		if err != nil || got.String() != string(want) {
			t.Errorf("brief %v: %v, %d bytes against %d", brief, err, got.Len(), len(want))
		}
	}
}
