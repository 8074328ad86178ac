package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// splitAll returns the steps in a text, with that of its end.
func splitAll(text string) []string {
	var s stepSplitter
	var steps []string
	for line := range strings.Lines(text) {
		steps = append(steps, s.add(strings.TrimRight(line, "\r\n"))...)
	}
	if rest := s.flush(); rest != "" {
		steps = append(steps, rest)
	}
	return steps
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"statements", "x = 1\nx + 1\n", []string{"x = 1\n", "x + 1\n"}},
		{"no end of the line", "x = 1\nx", []string{"x = 1\n", "x\n"}},
		{"CRLF", "x = 1\r\nx\r\n", []string{"x = 1\n", "x\n"}},
		{"nothing", "", nil},
		{"empty lines", "\n\n  \nx\n\n", []string{"x\n"}},
		{"comments alone are no step", "# one\n  # two\nx # three\n", []string{"x # three\n"}},
		{"brackets", "f(\n  1,\n\n  2)\ny\n", []string{"f(\n  1,\n\n  2)\n", "y\n"}},
		{"nested brackets", "x = {'a': [1,\n(2,\n)]\n}\n", []string{"x = {'a': [1,\n(2,\n)]\n}\n"}},
		{"brackets in strings", "x = '(['\ny = \"{\"\n", []string{"x = '(['\n", "y = \"{\"\n"}},
		{"brackets in comments", "x = 1 # (\ny\n", []string{"x = 1 # (\n", "y\n"}},
		{"a hash in a string", "x = '#('\ny = (1, # )\n2)\n", []string{"x = '#('\n", "y = (1, # )\n2)\n"}},
		{"a bracket too many", "x = 1)\ny = (\n2)\n", []string{"x = 1)\n", "y = (\n2)\n"}},
		{"a long string", "x = \"\"\"a\n\nb: (\n\"\"\"\ny\n", []string{"x = \"\"\"a\n\nb: (\n\"\"\"\n", "y\n"}},
		{"quotes in a long string", "x = '''a\"\"\"'\n''\\'''\nb'''\ny\n", []string{"x = '''a\"\"\"'\n''\\'''\nb'''\n", "y\n"}},
		{"an f-string", "f\"{x['a']}:\"\ny\n", []string{"f\"{x['a']}:\"\n", "y\n"}},
		{"an escaped quote", "x = 'it\\'s ('\ny\n", []string{"x = 'it\\'s ('\n", "y\n"}},
		{"a raw string", "x = r'\\d('\ny\n", []string{"x = r'\\d('\n", "y\n"}},
		{"an empty string", "x = ''\ny = \"\"\n", []string{"x = ''\n", "y = \"\"\n"}},
		{"a string that does not end", "x = 'a\ny\n", []string{"x = 'a\n", "y\n"}},
		{"a string goes on", "x = 'a\\\nb'\ny\n", []string{"x = 'a\\\nb'\n", "y\n"}},
		{"a backslash", "x = 1 + \\\n  2\ny\n", []string{"x = 1 + \\\n  2\n", "y\n"}},
		{"a backslash before an empty line", "x = 1 + \\\n\ny\n", []string{"x = 1 + \\\n\n", "y\n"}},
		{"a backslash in a comment", "x = 1 # \\\ny\n", []string{"x = 1 # \\\n", "y\n"}},
		{"a block", "for i in x:\n    print(i)\n\ny\n", []string{"for i in x:\n    print(i)\n\n", "y\n"}},
		{"a block ends with the next statement", "def f():\n    return 1\nf()\n", []string{"def f():\n    return 1\n", "f()\n"}},
		{"blocks follow one another", "def f():\n  pass\ndef g():\n  pass\nx\n", []string{"def f():\n  pass\n", "def g():\n  pass\n", "x\n"}},
		{"a block at the end", "if x:\n  y", []string{"if x:\n  y\n"}},
		{"a comment behind the colon", "if x: # why\n  y\n\n", []string{"if x: # why\n  y\n\n"}},
		{"a comment in a block", "if x:\n# why\n  y\n# also\n  z\n\n", []string{"if x:\n# why\n  y\n# also\n  z\n\n"}},
		{"a block without a body goes on", "if x:\n\n  y\n\n", []string{"if x:\n\n  y\n\n"}},
		{"a block inside", "if x:\n  if y:\n    z\n  w\n\n", []string{"if x:\n  if y:\n    z\n  w\n\n"}},
		{"other branches", "if x:\n  1\nelif y:\n  2\nelse:\n  3\nz\n", []string{"if x:\n  1\nelif y:\n  2\nelse:\n  3\n", "z\n"}},
		{"a name that begins as a branch", "if x:\n  1\nelsewhere = 2\n", []string{"if x:\n  1\n", "elsewhere = 2\n"}},
		{"exceptions", "try:\n  1\nexcept E:\n  2\nfinally:\n  3\n\n", []string{"try:\n  1\nexcept E:\n  2\nfinally:\n  3\n\n"}},
		{"a block on its line", "if x: y\nelse: z\n\nw\n", []string{"if x: y\nelse: z\n\n", "w\n"}},
		{"a loop on its line", "for i in x: print(i)\ny\n", []string{"for i in x: print(i)\n", "y\n"}},
		{"brackets in a block", "def f(\n  a,\n):\n  return (\na\n)\nf(1)\n", []string{"def f(\n  a,\n):\n  return (\na\n)\n", "f(1)\n"}},
		{"a long string in a block", "def f():\n  '''a\n\nb'''\n  return 1\n\n", []string{"def f():\n  '''a\n\nb'''\n  return 1\n\n"}},
		{"a decorator", "@f\n\n@g(\n1)\ndef h():\n  pass\nx\n", []string{"@f\n\n@g(\n1)\ndef h():\n  pass\n", "x\n"}},
		{"an operator is no decorator", "a @ b\nx\n", []string{"a @ b\n", "x\n"}},
		{"asynchronous", "async def f():\n  pass\nawait f()\n", []string{"async def f():\n  pass\n", "await f()\n"}},
		{"match", "match x:\n  case 1:\n    y\nz\n", []string{"match x:\n  case 1:\n    y\n", "z\n"}},
		{"colons of other kinds", "x: int = 1\ny[1:2]\nlambda: 0\n{1: 2}\n", []string{"x: int = 1\n", "y[1:2]\n", "lambda: 0\n", "{1: 2}\n"}},
		{"words that begin as a block", "iffy = 1\nformat(x)\n", []string{"iffy = 1\n", "format(x)\n"}},
		{"letters that are not ASCII", "größe = 1\nöffne(\n1)\n", []string{"größe = 1\n", "öffne(\n1)\n"}},
		{"bytes that are not text", "x = '\xff('\n\xff\n", []string{"x = '\xff('\n", "\xff\n"}},
		{"two on a line", "x = 1; y = 2\n", []string{"x = 1; y = 2\n"}},
	} {
		if got := splitAll(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q; want %q", tt.name, got, tt.want)
		}
	}
}

// A prompt shows that the step goes on.
func TestStepWaits(t *testing.T) {
	var s stepSplitter
	for _, tt := range []struct {
		line  string
		steps int
		waits bool
	}{
		{"", 0, false},
		{"x", 1, false},
		{"if x:", 0, true},
		{"  y", 0, true},
		{"", 1, false},
		{"if x: y", 0, true},
		{"z", 2, false},
		{"if x: y", 0, true},
		{"z(", 1, true},
		{")", 1, false},
		{"'''", 0, true},
		{"", 0, true},
		{"'''", 1, false},
	} {
		if steps := s.add(tt.line); len(steps) != tt.steps || s.waits() != tt.waits {
			t.Errorf("after %q: %q, waits %v; want %d steps, %v", tt.line, steps, s.waits(), tt.steps, tt.waits)
		}
	}
}

// Input that opens a bracket and never closes it is not kept without end.
func TestStepIsBounded(t *testing.T) {
	var s stepSplitter
	line, size := strings.Repeat("x", 1<<20), 0
	if s.add("(") != nil {
		t.Fatal("an open bracket is a step")
	}
	for len(s.add(line)) == 0 {
		if size += len(line); size > 2*run.MaxScript {
			t.Fatalf("%d bytes are kept", size)
		}
	}
	if s.waits() {
		t.Error("the rest is kept")
	}
}

// Splitting changes nothing but comments and empty lines between steps.
func FuzzSteps(f *testing.F) {
	for _, s := range []string{"x = 1\nx\n", "if x:\n  y\n\nz", "'''\n\\\n'''", "@f\n\ndef g(): pass\n", "f(\n#)\n)", "\\", "'\\", "\xff:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := text
		for _, step := range splitAll(text) {
			step = strings.TrimRight(step, "\n")
			at := strings.Index(strings.ReplaceAll(whole, "\r\n", "\n"), step)
			if strings.Contains(text, "\r") {
				return
			}
			if step == "" || at < 0 {
				t.Fatalf("%q has no step %q", text, step)
			}
			whole = whole[at+len(step):]
		}
	})
}
