package hosttest

import "testing"

func TestFailures(t *testing.T) {
	const (
		a     = "=== RUN   TestA\n=== RUN   TestA/good\n    a_test.go:1: talk\n"
		bad   = "=== RUN   TestA/bad\n    a_test.go:2: got 1, want 2\n        === RUN   TestInside\n"
		after = "=== RUN   TestA/skipped\n    a_test.go:3: not here\n"
		more  = "=== NAME  TestA/bad\n    a_test.go:4: at the end\n"
		end   = "=== NAME  TestA\n--- FAIL: TestA (0.00s)\n    --- PASS: TestA/good (0.00s)\n    --- FAIL: TestA/bad (0.00s)\n    --- SKIP: TestA/skipped (0.00s)\nFAIL\n"
	)
	got := Failures(a + bad + after + more + end)
	if want := "=== RUN   TestA\n" + end + bad + more; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if died := a + "fatal error: all goroutines are asleep\n"; Failures(died) != died {
		t.Error("without a failed test, output is missing")
	}
}
