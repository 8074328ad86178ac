package backendtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// InSteps opens a backend whose jobs run as steps of sessions, each after an earlier step of
// its session.
func InSteps(open Open) Open {
	return func(t *testing.T, p policy.Policy) backend.Backend { return inSteps{open(t, p)} }
}

type inSteps struct{ backend.Backend }

func (b inSteps) Open(ctx context.Context, job backend.Job) (backend.Sandbox, error) {
	s, err := b.Backend.(backend.SessionOpener).OpenSession(ctx, backend.SessionOptions{Restricted: job.Script.Restricted, Limits: job.Limits})
	if err != nil {
		return nil, err
	}
	before := job
	before.Request = run.Request{Script: run.Script{Source: "kept = 1", Restricted: job.Script.Restricted}}
	if result, err := s.Run(ctx, before); err != nil || !result.OK() {
		return nil, errors.Join(err, run.Errorf(run.Internal, "the first step: %s", result.Error), s.Close())
	}
	return s, nil
}

// steps runs the steps of one session.
type steps struct {
	t      *testing.T
	s      backend.Session
	limits policy.Limits
}

func openSteps(t *testing.T, b backend.Backend, limits policy.Limits) *steps {
	t.Helper()
	s, err := b.(backend.SessionOpener).OpenSession(t.Context(), backend.SessionOptions{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &steps{t, s, limits}
}

func (s *steps) job(code string) backend.Job {
	return backend.Job{Request: run.Request{Script: run.Script{Source: code}}, Limits: s.limits}
}

func (s *steps) try(job backend.Job) (run.Result, error) { return s.s.Run(s.t.Context(), job) }

func (s *steps) variables() ([]run.Variable, int) {
	s.t.Helper()
	list, omitted, err := s.s.Variables(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return list, omitted
}

// run runs a step that ends in this way, and returns its Result.
func (s *steps) run(code string, want run.Outcome) run.Result {
	s.t.Helper()
	res, err := s.try(s.job(code))
	if err != nil {
		s.t.Fatalf("%q: %v", code, err)
	}
	if res.Outcome != want || res.Step == nil {
		s.t.Fatalf("%q: %s %s, want %s\n%s", code, res.Outcome, res.Error, want, res.Stderr)
	}
	return res
}

// shows runs a step whose last value is shown as this text; empty means that nothing is.
func (s *steps) shows(code, want string) {
	s.t.Helper()
	res := s.run(code, run.Succeeded)
	got := ""
	for _, shown := range res.Step.Display {
		if shown.Value {
			got += shown.Forms["text/plain"]
		}
	}
	if got != want {
		s.t.Errorf("%q shows %q, want %q", code, got, want)
	}
}

// Sessions checks what a tier with sessions promises for them. Interrupts says that a step
// that reaches a limit is interrupted, so that its session goes on.
func Sessions(t *testing.T, open Open, p policy.Policy, interrupts bool) {
	p = p.Resolved()
	b := open(t, p)
	opened := func(t *testing.T) *steps { return openSteps(t, b, p.Limits) }

	t.Run("state stays", func(t *testing.T) {
		s := opened(t)
		s.shows("x = 1", "")
		s.shows("import math\ndef f(n):\n    return n + x\nclass C:\n    y = 2", "")
		s.shows("f(C.y) + math.floor(1.5)", "4")
		s.shows("x += 10\nx", "11")
		s.shows("_ + 1", "12")
		s.shows("with open('/tmp/kept', 'w') as file:\n    print('text', file=file)", "")
		s.shows("open('/tmp/kept').read()", `'text\n'`)
		if n := s.run("pass", run.Succeeded).Step.Number; n != 8 {
			t.Errorf("the number of the step is %d", n)
		}
	})
	t.Run("values", func(t *testing.T) {
		s := opened(t)
		s.shows("1;", "")
		s.shows("1  # ; a comment", "1")
		s.shows("None", "")
		s.shows("'é€'; 'x€' ", "'x€'")
		s.shows("for i in range(3):\n    i", "")
		s.shows("async def f(): return 7\nawait f()", "7")
		s.shows("x = await f()\nx + await f()", "14")
		res := s.run("result = {'a': 1}\n'shown'", run.Succeeded)
		if string(res.Value) != `{"a":1}` || len(res.Step.Display) != 1 {
			t.Errorf("%s %+v", res.Value, res.Step)
		}
		if res := s.run("pass", run.Succeeded); string(res.Value) != "null" {
			t.Errorf("the result of the step before stays: %s", res.Value)
		}
		job := s.job("result = context['n'] + 1; y = 3")
		job.Script.Context, job.Script.Variables = map[string]any{"n": 1}, []string{"y"}
		if res, err := s.try(job); err != nil || string(res.Value) != "2" || string(res.Variables["y"]) != "3" {
			t.Errorf("%v %s %s", err, res.Value, res.Variables)
		}
	})
	t.Run("variables", func(t *testing.T) {
		s := opened(t)
		if list, omitted := s.variables(); len(list) != 0 || omitted != 0 {
			t.Errorf("%+v %d", list, omitted)
		}
		step := s.run("x = 1\ndef f(): pass\ns = 'é' * 100\nbig = 10 ** 1000\nimport math\nitems = list(range(1000))\n_hidden = 1\nold = 2", run.Succeeded).Step
		if got := fmt.Sprint(step.Added, step.Changed, step.Removed); got != "[big f items math old s x] [] []" {
			t.Error(got)
		}
		step = s.run("x += 1\nitems.append(1)\nnew = 3\ndel old\nbig = big", run.Succeeded).Step
		if got := fmt.Sprint(step.Added, step.Changed, step.Removed); got != "[new] [x] [old]" {
			t.Error(got)
		}
		var lines []string
		list, omitted := s.variables()
		for _, v := range list {
			lines = append(lines, v.Name+" "+v.Type)
			if v.Size <= 0 || len(v.Text) > 200 || v.Text == "" {
				t.Errorf("%+v", v)
			}
		}
		if got := strings.Join(lines, ", "); got != "big int, f function, items list, math module, new int, s str, x int" || omitted != 0 {
			t.Errorf("%s %d", got, omitted)
		}
		if text := list[len(list)-1].Text; text != "2" {
			t.Errorf("x is shown as %s", text)
		}
		s.shows("x", "2")
	})
	t.Run("variables that resist", func(t *testing.T) {
		s := opened(t)
		s.run(`
class Endless:
    def __repr__(self):
        while True: pass
class Raises:
    def __repr__(self): raise SystemError
    def __sizeof__(self): return -1
class Lies(type):
    __name__ = property(lambda self: 1/0)
class Lying(metaclass=Lies):
    __class__ = property(lambda self: 1/0)
class Items(list):
    def __len__(self): return -1
    def __iter__(self): raise ValueError
a, b, c, d, e = Raises(), Lying(), Items([1]), Endless(), Endless()
f = [f for f in range(10**6)]; g = {'k': f}
h = []; h.append(h)
globals()['line\nbreak'] = 1
globals()[1] = 2
for i in range(2000): globals()['many%d' % i] = i
`, run.Succeeded)
		began := time.Now()
		list, omitted := s.variables()
		if len(list) != 1000 || omitted < 1000 || time.Since(began) > 30*time.Second {
			t.Errorf("%d variables, and %d omitted, after %v", len(list), omitted, time.Since(began))
		}
		for _, v := range list {
			if len(v.Text) > 200 || strings.ContainsAny(v.Name+v.Type+v.Text, "\n") || v.Text == "" || v.Size < 0 {
				t.Errorf("%+v", v)
			}
		}
		s.shows("i", "1999") // it goes on
		if added := s.run("for i in range(200): globals()['more%d' % i] = i", run.Succeeded).Step.Added; len(added) != 100 {
			t.Errorf("%d names", len(added))
		}
	})
	t.Run("rich forms", func(t *testing.T) {
		s := opened(t)
		res := s.run(`class Rich:
    def __init__(self, **forms): self.forms = forms
    def _repr_html_(self): return self.forms.get("html")
    def _repr_png_(self): return self.forms.get("png")
    def _repr_markdown_(self): return self.forms.get("markdown")
    def _repr_json_(self): return self.forms.get("json")
    def __repr__(self): return "rich"
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": b"<i>", "image/jpeg": "anBlZw==", "application/javascript": "alert(1)"}, {"meta": 1}
display(Rich(html="<b>"), Rich(json=[1]))
display(Bundle())
Rich(png=b"\x89PNG", markdown="*m*")`, run.Succeeded)
		want := []run.Display{
			{Forms: map[string]string{"text/html": "<b>", "text/plain": "rich"}},
			{Forms: map[string]string{"application/json": "[1]", "text/plain": "rich"}},
			{Forms: map[string]string{"text/html": "<i>", "image/jpeg": "anBlZw=="}},
			{Forms: map[string]string{"image/png": base64.StdEncoding.EncodeToString([]byte("\x89PNG")), "text/markdown": "*m*", "text/plain": "rich"}, Value: true},
		}
		if len(res.Step.Display) != len(want) {
			t.Fatalf("%+v", res.Step.Display)
		}
		for i, shown := range res.Step.Display {
			for kind, text := range want[i].Forms {
				if shown.Forms[kind] != text {
					t.Errorf("%d: %s is %q, want %q", i, kind, shown.Forms[kind], text)
				}
			}
			if shown.Value != want[i].Value {
				t.Errorf("%d: value %v", i, shown.Value)
			}
		}
		s.run("class Bad:\n    def _repr_html_(self): raise OSError('no form')\nBad()", run.Raised)
		s.shows("'still here'", "'still here'")
	})
	t.Run("failures leave the state", func(t *testing.T) {
		s := opened(t)
		s.shows("x = 1\ndef fails():\n    raise ValueError('no')", "")
		res := s.run("x = 2\nfails()", run.Raised)
		// The lines of the earlier step are shown, and no path of the host.
		for _, line := range []string{`File "<step 2>", line 2`, "    fails()", `File "<step 1>", line 3, in fails`, "    raise ValueError('no')", "ValueError: no"} {
			if !strings.Contains(res.Exception.Traceback, line) {
				t.Errorf("the traceback lacks %q:\n%s", line, res.Exception.Traceback)
			}
		}
		s.run("x ==== 2", run.Malformed)
		s.run("raise SystemExit(3)", run.Exited)
		for code, word := range map[string]string{"!ls -l": "shell command", "%timeit x": "magic command", "y = 1\n  %matplotlib inline": "magic command"} {
			if res := s.run(code, run.Malformed); !strings.Contains(res.Error, word) {
				t.Errorf("%q: %s", code, res.Error)
			}
		}
		s.shows("x", "2")
	})
	t.Run("input", func(t *testing.T) {
		s := opened(t)
		for _, text := range []string{"one\n", "two\nthree\n"} {
			job := s.job("import sys; result = input()")
			job.Stdin = text
			if res, err := s.try(job); err != nil || string(res.Value) != `"`+strings.SplitN(text, "\n", 2)[0]+`"` {
				t.Errorf("%v %s %s", err, res.Value, res.Error)
			}
		}
	})
	t.Run("output", func(t *testing.T) {
		s := opened(t)
		for _, word := range []string{"first", "second"} {
			var live, errors lockedBuilder
			job := s.job("import sys; print('" + word + "'); print('error', file=sys.stderr)")
			job.Streams = run.Streams{Out: &live, Err: &errors}
			if res, err := s.try(job); err != nil || res.Stdout != word+"\n" || res.Stderr != "error\n" || live.String() != res.Stdout || errors.String() != res.Stderr {
				t.Errorf("%v %q %q, live %q %q", err, res.Stdout, res.Stderr, live.String(), errors.String())
			}
		}
		res := s.run("print('x' * 100000)", run.Succeeded)
		if !res.StdoutTruncated || res.StdoutSize != 100001 {
			t.Errorf("%d bytes, truncated %v", res.StdoutSize, res.StdoutTruncated)
		}
		if res := s.run("print('y')", run.Succeeded); res.Stdout != "y\n" {
			t.Errorf("after much output: %q", res.Stdout)
		}
	})
	t.Run("time limits", func(t *testing.T) {
		for outcome, limits := range map[run.Outcome]policy.Limits{
			run.TimedOut: {WallTime: time.Second / 5}, run.OutOfCPU: {CPUTime: time.Second / 5},
		} {
			s := opened(t)
			s.shows("x = 1", "")
			job := s.job("x = 2\nwhile x:\n    x += 1")
			job.Limits = limits.Fill(p.Limits, p.Maxima)
			job.Limits.CPUTime = min(job.Limits.CPUTime, p.Limits.CPUTime)
			res, err := s.try(job)
			if err != nil || res.Outcome != outcome || res.Step == nil || res.Step.Survived != interrupts || res.Value != nil {
				t.Fatalf("%v %s %s %+v, want %s", err, res.Outcome, res.Error, res.Step, outcome)
			}
			s.goesOn("x >= 1", "True", interrupts)
		}
	})
	t.Run("cancellation", func(t *testing.T) {
		s := opened(t)
		s.shows("x = 1", "")
		ctx, cancel := context.WithCancel(t.Context())
		job := s.job("x = 2\nprint('begun', flush=True)\nwhile x:\n    x += 1")
		job.Streams.Out = writer(func([]byte) { cancel() })
		res, err := s.s.Run(ctx, job)
		if err != nil || res.Outcome != run.Canceled || res.Step.Survived != interrupts {
			t.Fatalf("%v %s %s %+v", err, res.Outcome, res.Error, res.Step)
		}
		s.goesOn("x > 1", "True", interrupts)
	})
	t.Run("memory", func(t *testing.T) {
		s := opened(t)
		s.shows("x = 1", "")
		s.run("y = bytearray(10**9)", run.OutOfMemory)
		s.shows("x", "1")
	})
	t.Run("the end", func(t *testing.T) {
		s := opened(t)
		res, err := s.try(s.job("import os; os._exit(3)"))
		if err != nil || res.Outcome != run.Exited || res.Step.Survived {
			t.Fatalf("%v %s %+v", err, res.Outcome, res.Step)
		}
		s.isGone("the session ended")
	})
	t.Run("closed", func(t *testing.T) {
		s := opened(t)
		if err := errors.Join(s.s.Close(), s.s.Close()); err != nil {
			t.Error(err)
		}
		s.isGone("closed")
	})
	t.Run("closed while a step runs", func(t *testing.T) {
		s := opened(t)
		begun := make(chan struct{})
		job := s.job("print('begun', flush=True)\nwhile True: pass")
		job.Streams.Out = writer(func([]byte) { close(begun) })
		ended := make(chan run.Result, 1)
		go func() {
			res, err := s.try(job)
			if err != nil {
				t.Error(err)
			}
			ended <- res
		}()
		<-begun
		if err := s.s.Close(); err != nil {
			t.Error(err)
		}
		if res := <-ended; res.Outcome != run.Canceled {
			t.Errorf("%s %s", res.Outcome, res.Error)
		}
	})
	t.Run("many at once", func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 6 {
			s := opened(t)
			all.Go(func() {
				for range 20 {
					job := s.job("n = globals().get('n', 0) + context\nresult = n")
					job.Script.Context = i
					if res, err := s.try(job); err != nil || !res.OK() {
						t.Errorf("%v %s", err, res.Error)
						return
					}
				}
				res, err := s.try(s.job("result = n"))
				if err != nil || string(res.Value) != strconv.Itoa(20*i) {
					t.Errorf("session %d: %v %s", i, err, res.Value)
				}
			})
		}
		all.Wait()
	})
}

// HostileSteps tries to break the conversation between a session and its host. Each step leads
// to a Result, and the next one to a Result of its own or to the end of the session.
func HostileSteps(t *testing.T, open Open, p policy.Policy) {
	p = p.Resolved()
	b := open(t, p)
	few := p.Limits
	few.Result = 64 * policy.KiB
	few.WallTime = 2 * time.Second
	for name, code := range map[string]string{
		"display is replaced":             "def display(*all): raise ValueError\n_ = display\nprint('x')",
		"display is flooded":              "for i in range(10000): display(i)",
		"a huge object":                   "display('x' * 10**6)\nclass P:\n    def _repr_png_(self): return b'x' * 10**7\nP()",
		"forms of wrong types":            "class P:\n    def _repr_mimebundle_(self, **n): return {1: 2, 'text/html': 3, 'image/png': object(), '': 'x'}\nP()",
		"names of forms":                  "class P:\n    def _repr_mimebundle_(self, **n): return {'text/\\n\\x1b[2J': 'x', 'x' * 1000: 'y', 'a/b<c>': 'z', **{'text/%d' % i: 'x' for i in range(100)}}\nP()",
		"forms that lie":                  "class S(str):\n    def __len__(self): return 1\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\nclass P:\n    def _repr_html_(self): return S('x' * 10**6)\nP()",
		"repr that never ends":            "class P:\n    def __repr__(self):\n        while True: pass\nP()",
		"repr that raises":                "class P:\n    def __repr__(self): raise SystemExit(9)\nP()",
		"modules are replaced":            "import sys\nfor name in list(sys.modules):\n    sys.modules[name] = None",
		"builtins are removed":            "import builtins\nfor name in dir(builtins):\n    if name[0] != '_': delattr(builtins, name)",
		"frames of ours":                  "import sys\nframe = sys._getframe()\nwhile frame is not None:\n    frame.f_globals.clear()\n    frame = frame.f_back",
		"globals of ours":                 "import sys\nframe = sys._getframe()\nwhile frame is not None:\n    for name, value in list(frame.f_globals.items()):\n        if callable(value): frame.f_globals[name] = None\n    frame = frame.f_back",
		"streams are closed":              "import sys, os\nsys.stdout.close(); sys.stderr.close(); sys.stdin.close()\nfor fd in range(3): os.close(fd)",
		"result is enormous":              "result = 'x' * 10**7\n'y' * 10**6",
		"a thread that goes on":           "import threading\ndef spin():\n    while True: print('x' * 100)\nthreading.Thread(target=spin, daemon=True).start()",
		"the result of a step is deleted": "del result, context",
		"recursion":                       "def f(): f()\nf()",
		"stdin is replaced":               "import sys; sys.stdin = 7; sys.stdout = 8",
		"exceptions that lie":             "class E(KeyboardInterrupt):\n    def __str__(self): raise E\nraise E",
	} {
		t.Run(name, func(t *testing.T) {
			s := openSteps(t, b, few)
			s.run("before = 1", run.Succeeded)
			first, err := s.try(s.job(code))
			if err != nil {
				t.Fatalf("the hostile step: %v", err)
			}
			size := 0
			for _, shown := range first.Step.Display {
				for kind, text := range shown.Forms {
					size += len(kind) + len(text)
					if strings.ContainsAny(kind, "\n\x1b<> ") || len(kind) > 200 {
						t.Errorf("a form %q", kind)
					}
				}
			}
			if len(first.Step.Display) > 64 || size > int(few.Result) {
				t.Errorf("%d objects with %d bytes were displayed", len(first.Step.Display), size)
			}
			if !first.Step.Survived {
				s.isGone("the session ended")
				return
			}
			second, err := s.try(s.job("after = 2\nafter"))
			if err != nil && run.ClassOf(err) != run.Gone {
				t.Errorf("the step after it: %v", err)
			}
			t.Logf("%s, then %s %v", first.Outcome, second.Outcome, err)
		})
	}
}

// goesOn checks that a session has its state, or that it has ended.
func (s *steps) goesOn(code, want string, survived bool) {
	s.t.Helper()
	if survived {
		s.shows(code, want)
	} else {
		s.isGone("the session ended")
	}
}

func (s *steps) isGone(why string) {
	s.t.Helper()
	_, err := s.try(s.job("pass"))
	if run.ClassOf(err) != run.Gone || !strings.Contains(err.Error(), why) {
		s.t.Errorf("%v, want that the session is gone: %s", err, why)
	}
}

// writer calls a function with what is written.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// lockedBuilder is a strings.Builder for concurrent use.
type lockedBuilder struct {
	mu   sync.Mutex
	data []byte
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(slices.Clone(b.data))
}
