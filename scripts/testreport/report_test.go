package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

func TestReasonOfSkips(t *testing.T) {
	if leftToTestAll != hosttest.LeftToTestAll {
		t.Errorf("%q, but tests say %q", leftToTestAll, hosttest.LeftToTestAll)
	}
}

// transcript is what `go test -json` writes, shortened: a package that passes, one that
// fails, one that ends its process, and one that does not compile.
const transcript = `{"Action":"start","Package":"m/good"}
{"Action":"run","Package":"m/good","Test":"TestA"}
{"Action":"output","Package":"m/good","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/good","Test":"TestA","Output":"    a_test.go:3: talk of a test that passes\n"}
{"Action":"run","Package":"m/good","Test":"TestA/part"}
{"Action":"output","Package":"m/good","Test":"TestA/part","Output":"    > [!wine] skip 'needs Wine: make test-all runs it'\\n"}
{"Action":"pass","Package":"m/good","Test":"TestA/part","Elapsed":2.5}
{"Action":"pass","Package":"m/good","Test":"TestA","Elapsed":3}
{"Action":"run","Package":"m/good","Test":"TestWine"}
{"Action":"output","Package":"m/good","Test":"TestWine","Output":"    w_test.go:9: needs Wine: make test-all runs it\n"}
{"Action":"output","Package":"m/good","Test":"TestWine","Output":"--- SKIP: TestWine (0.00s)\n"}
{"Action":"skip","Package":"m/good","Test":"TestWine","Elapsed":0}
{"Action":"output","Package":"m/good","Output":"PASS\n"}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t3.012s\n"}
{"Action":"pass","Package":"m/good","Elapsed":3.012}
warning: this is not JSON
{"Action":"run","Package":"m/bad","Test":"TestB"}
{"Action":"output","Package":"m/bad","Test":"TestB","Output":"    b_test.go:7: got 1, want 2\n"}
{"Action":"output","Package":"m/bad","Test":"TestB","Output":"--- FAIL: TestB (0.10s)\n"}
{"Action":"fail","Package":"m/bad","Test":"TestB","Elapsed":0.1}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t0.100s\n"}
{"Action":"fail","Package":"m/bad","Elapsed":0.1}
{"Action":"run","Package":"m/dies","Test":"TestC"}
{"Action":"output","Package":"m/dies","Test":"TestC","Output":"about to call os.Exit\n"}
{"Action":"output","Package":"m/dies","Output":"FAIL\tm/dies\t0.010s\n"}
{"Action":"fail","Package":"m/dies","Elapsed":0.01}
{"ImportPath":"m/broken","Action":"build-output","Output":"broken.go:1: expected 'package'\n"}
{"ImportPath":"m/broken","Action":"build-fail"}
{"Action":"output","Package":"m/broken","Output":"FAIL\tm/broken [build failed]\n"}
{"Action":"fail","Package":"m/broken","Elapsed":0}
`

const want = `ok  	m/good	3.012s
warning: this is not JSON
    b_test.go:7: got 1, want 2
--- FAIL: TestB (0.10s)
FAIL	m/bad	0.100s
--- NOT ENDED: m/dies TestC
about to call os.Exit
FAIL	m/dies	0.010s
broken.go:1: expected 'package'
FAIL	m/broken [build failed]

the slowest 3 of 3 tests:
    2.50s  m/good TestA/part
    0.10s  m/bad TestB
    0.00s  m/good TestWine

1 tests were left to make test-all

failed:
  m/bad TestB
  m/bad 
  m/dies 
  m/broken 
`

func TestReport(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, false)
	if err := r.read(strings.NewReader(transcript)); err != nil {
		t.Fatal(err)
	}
	r.finish()
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if r.checkComplete([]test{{"m/good", "TestA"}, {"m/good", "TestLost"}}) {
		t.Error("a report with a lost test and one left out is complete")
	}
	for _, words := range []string{"did not run: m/good TestLost", "which this is: m/good TestWine"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("no %q in %s", words, out.String())
		}
	}
	delete(r.left, test{"m/good", "TestWine"})
	if !r.checkComplete([]test{{"m/good", "TestA"}}) {
		t.Error("a whole report is not complete")
	}
}

// A log may end in the middle, when a test has ended its process.
func TestReportOfDeadProgram(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, false)
	err := r.read(strings.NewReader(`{"Action":"run","Package":"m/dies","Test":"TestC"}
{"Action":"output","Package":"m/dies","Test":"TestC","Output":"panic: test timed out\n"}
`))
	r.finish()
	if want := "--- NOT ENDED: m/dies TestC\npanic: test timed out\n\nfailed:\n  m/dies \n"; err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestVerboseReportIsWhole(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, true)
	if err := r.read(strings.NewReader(transcript)); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"=== RUN   TestA", "talk of a test that passes", "got 1, want 2"} {
		if strings.Count(out.String(), words) != 1 {
			t.Errorf("%q is not there once in\n%s", words, out.String())
		}
	}
}

func TestTestsIn(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", `package x
func TestMain(m *testing.M) {}
func TestOne(t *testing.T) {}
func Testify() {}
func (s suite) TestMethod(t *testing.T) {}
func FuzzTwo(f *testing.F) {}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := testsIn(file); !slices.Equal(got, []string{"TestOne", "FuzzTwo"}) {
		t.Errorf("%q", got)
	}
}

func TestArguments(t *testing.T) {
	if got := packagesOf(strings.Fields("-p 3 -timeout 15m ./internal/... ./...")); !slices.Equal(got, []string{"./internal/...", "./..."}) {
		t.Errorf("packages %q", got)
	}
	for arg, want := range map[string]bool{"-run": true, "--run=X": true, "-skip=A": true, "-race": false, "./run": false, "-p": false} {
		if selects(arg) != want {
			t.Errorf("%s selects: %v", arg, !want)
		}
	}
}
