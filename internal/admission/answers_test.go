package admission

import (
	"strings"
	"sync"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

func TestAnswers(t *testing.T) {
	a := NewAnswers(AnswerOptions{PerCaller: 100, Total: 150})
	hold := func(name string, size int64) func() {
		t.Helper()
		release, err := a.Hold(name, size)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	refused := func(name string, size int64, words string) {
		t.Helper()
		_, err := a.Hold(name, size)
		if run.ClassOf(err) != run.Busy || !strings.Contains(err.Error(), words) || a.Room(name, size) == nil {
			t.Errorf("%s, %d: %v", name, size, err)
		}
	}
	first := hold("alice", 60)
	refused("alice", 41, "unread answers of alice take 60B of at most 100B")
	second := hold("alice", 40)
	third := hold("bob", 50)
	refused("bob", 1, "unread answers of all callers take 150B of at most 150B")
	for _, release := range []func(){first, first, second, third} { // the second release of first has no effect
		release()
	}
	if a.Unsent() != 0 || len(a.caller) != 0 {
		t.Errorf("%d bytes are left, of %v", a.Unsent(), a.caller)
	}
	alone := hold("alice", 1000) // which the policy allows
	refused("alice", 1, "alice")
	alone()
	hold("alice", 1)()
}

// Callers hold and release answers concurrently, and at the end nothing is held.
func TestAnswersHammer(t *testing.T) {
	a := NewAnswers(AnswerOptions{PerCaller: 100, Total: 300})
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			name := string(rune('a' + i%4))
			for n := range 2000 {
				if release, err := a.Hold(name, int64(n%70)); err == nil {
					if now := a.Unsent(); now > 300 {
						t.Errorf("%d bytes are held", now)
					}
					release()
				}
			}
		})
	}
	callers.Wait()
	if a.Unsent() != 0 || len(a.caller) != 0 {
		t.Errorf("%d bytes are left, of %v", a.Unsent(), a.caller)
	}
}
