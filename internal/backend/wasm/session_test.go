package wasm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// runIn runs a script in a session.
func runIn(t *testing.T, s *Session, script string) run.Result {
	t.Helper()
	r, err := s.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: script, Restricted: s.Restricted()}}, Limits: policy.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func gives(t *testing.T, s *Session, script, want string) {
	t.Helper()
	if r := runIn(t, s, script); string(r.Value) != want {
		t.Errorf("%s: %s %s, want %s", script, r.Value, r.Error, want)
	}
}

func (b bench) session(restricted bool) *Session {
	b.Helper()
	s, err := b.openSession(b.Context(), backend.SessionOptions{Restricted: restricted, Limits: policy.DefaultLimits()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func TestSession(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, restricted := range []bool{false, true} {
		s, other := b.session(restricted), b.session(restricted)
		gives(t, s, "x = [1, 2]\ndef f(n):\n    return n + len(x)\nresult = 1", "1")
		gives(t, s, "x.append(3)\nresult = f(10)", "13")
		gives(t, s, "result", "null") // not that of the last run
		expect(t, runIn(t, s, "1 / 0"), run.Raised, "ZeroDivisionError")
		gives(t, s, "result = f(10)", "13")
		expect(t, runIn(t, other, "f"), run.Raised, "NameError")
	}
}

func TestSessionEndsWithAStoppedRun(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, script := range []string{"while True: pass", "import os; os._exit(3)", "import os; os.abort()"} {
		s := b.session(false)
		r, err := s.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: script}}, Limits: policy.Limits{WallTime: short}.Or(policy.DefaultLimits())})
		if err != nil || r.OK() {
			t.Errorf("%s: %v %s", script, err, r.Outcome)
		}
		_, err = s.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: "pass"}}, Limits: policy.DefaultLimits()})
		if run.ClassOf(err) != run.Gone || !strings.Contains(err.Error(), "was stopped") {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// A refused allocation of one run does not affect the outcome of the next.
func TestRefusedMemoryDoesNotAffectTheNextRun(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	gives(t, s, "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    result = 'refused'", `"refused"`)
	expect(t, runIn(t, s, "import os; os._exit(3)"), run.Exited, "exit code 3")
}

func TestFork(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	// Much more than the image has, so that the memory grows.
	gives(t, s, "import random\nkeep = bytearray(b'x' * 50_000_000)\nx = 1\nresult = len(keep)", "50000000")
	fork, err := s.fork()
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	gives(t, s, "x = 2\nkeep[0] = 0\nresult = x", "2")
	gives(t, fork, "result = [x, keep[0], keep[-1], len(keep)]", "[1,120,120,50000000]")
	gives(t, fork, "x = 3\nresult = x", "3")
	gives(t, s, "result = x", "2")
	second, err := fork.fork()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	gives(t, second, "result = [x, len(keep)]", "[3,50000000]")
	one, two := runIn(t, fork, "result = random.random()"), runIn(t, second, "result = random.random()")
	if bytes.Equal(one.Value, two.Value) {
		t.Errorf("two forks have the same randomness: %s", one.Value)
	}
	// A fork outlives its original.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	third, err := fork.fork()
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	gives(t, third, "result = x", "3")
}

// A fork has copies of the files, and a loaded session has none.
func TestForkHasFiles(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	gives(t, s, "open('a', 'w').write('first')\nopen('/tmp/b', 'w').write('x')\nresult = 1", "1")
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	fork, err := s.fork()
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	gives(t, s, "open('a', 'w').write('second')\nresult = 1", "1")
	gives(t, fork, "import os\nresult = [open('a').read(), os.getcwd(), os.path.exists('/tmp/b')]", `["first","/work",true]`)
	gives(t, fork, "os.remove('a')\nresult = 1", "1")
	gives(t, s, "result = open('/work/a').read()", `"second"`)
	loaded, err := b.loadSession(t.Context(), &saved)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	gives(t, loaded, "import os\nresult = [os.getcwd(), os.listdir(), open('new', 'w').write('x')]", `["/work",[],1]`)
}

func TestSnapshot(t *testing.T) {
	var saved bytes.Buffer
	from := pythonBench(t, Options{Idle: 1})
	s := from.session(false)
	gives(t, s, "import json, random\nclass Counter:\n    n = 41\ncounter = Counter()\nkeep = list(range(100_000))\nresult = 0", "0")
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	gives(t, s, "counter.n += 1\nresult = counter.n", "42")
	var randoms []string
	for range 2 { // twice, in different Runners
		b := pythonBench(t, Options{Idle: 1})
		loaded, err := b.loadSession(t.Context(), bytes.NewReader(saved.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		gives(t, loaded, "counter.n += 1\nresult = [counter.n, len(keep), json.dumps(keep[:2])]", `[42,100000,"[0, 1]"]`)
		randoms = append(randoms, string(runIn(t, loaded, "result = random.random()").Value))
		fork, err := loaded.fork()
		if err != nil {
			t.Fatal(err)
		}
		gives(t, fork, "result = counter.n", "42")
		// A loaded session can be saved again.
		var again bytes.Buffer
		if err := fork.Save(&again); err != nil {
			t.Fatal(err)
		}
		twice, err := b.loadSession(t.Context(), &again)
		if err != nil {
			t.Fatal(err)
		}
		gives(t, twice, "result = counter.n", "42")
	}
	if randoms[0] == randoms[1] {
		t.Errorf("two copies have the same randomness: %s", randoms[0])
	}
}

func TestDamagedSnapshots(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	gives(t, s, "x = 1\nresult = x", "1")
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		t.Fatal(err)
	}
	whole := saved.Bytes()
	refuse := func(name string, data []byte, words string) {
		t.Helper()
		loaded, err := b.loadSession(t.Context(), bytes.NewReader(data))
		if err == nil {
			_ = loaded.Close()
		}
		if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "the snapshot cannot be used: ") || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuse("nothing", nil, "not a snapshot")
	refuse("something else", []byte(strings.Repeat("text ", 100)), "not a snapshot")
	refuse("a header of 4 GiB", append([]byte(snapshotMagic), 0xff, 0xff, 0xff, 0xff), "damaged")
	refuse("more behind it", append(bytes.Clone(whole), 0), "damaged")
	for n := len(whole) - 1; n > 0; n -= len(whole) / 23 {
		refuse("cut", whole[:n], "")
		changed := bytes.Clone(whole)
		changed[n] ^= 0x10
		refuse("changed", changed, "")
	}
	header := func(old, new string) []byte {
		if !bytes.Contains(whole, []byte(old)) {
			t.Fatalf("no %s in the header", old)
		}
		return bytes.Replace(bytes.Clone(whole), []byte(old), []byte(new), 1)
	}
	refuse("another format", header(`"format":1`, `"format":9`), "its format is 9")
	refuse("another build", header(`"build":"`, `"built":"`), "another build")
	// Another policy lacks the mounts that the guest's C library has found.
	other := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Read: []string{t.TempDir()}}})
	if _, err := other.loadSession(t.Context(), bytes.NewReader(whole)); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "saved with the grants") {
		t.Error(err)
	}
	// Under a narrower policy, it has too much memory.
	narrow := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Limits: policy.Limits{Memory: policy.MiB}, Maxima: policy.Limits{Memory: policy.MiB}}})
	gives(t, s, "y = bytearray(60_000_000)\nresult = 1", "1")
	var large bytes.Buffer
	if err := s.Save(&large); err != nil {
		t.Fatal(err)
	}
	if _, err := narrow.loadSession(t.Context(), &large); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "the policy allows 1MiB") {
		t.Error(err)
	}
}

func TestSessionsEndWithTheRunner(t *testing.T) {
	b, err := New(Options{Idle: 1, Cache: testCache, Policy: policy.Policy{PythonWasm: bundle(t)}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.openSession(t.Context(), backend.SessionOptions{Limits: policy.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: "pass"}}, Limits: policy.DefaultLimits()}); run.ClassOf(err) != run.Gone {
		t.Error(err)
	}
	if _, err := s.fork(); run.ClassOf(err) != run.Gone {
		t.Error(err)
	}
	if err := s.Save(&bytes.Buffer{}); run.ClassOf(err) != run.Gone {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// The suite of every tier with sessions. A step that is stopped here stops at an arbitrary
// instruction, so it ends its session.
func TestSessionsSuite(t *testing.T) { backendtest.Sessions(t, openPython, policy.Policy{}, false) }
func TestHostileSteps(t *testing.T)  { backendtest.HostileSteps(t, openPython, policy.Policy{}) }
func TestFiles(t *testing.T)         { backendtest.Files(t, openPython, policy.Policy{}) }
func TestSessionFiles(t *testing.T)  { backendtest.SessionFiles(t, openPython, policy.Policy{}) }

// Each page that a step changes is memory of that session alone. What a first step needs was
// made before the interpreter's memory was copied.
func TestFirstStepChangesFewPages(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, restricted := range []bool{false, true} {
		s := b.session(restricted)
		before := bytes.Clone(s.instance.Memory())
		gives(t, s, "x = 1\nresult = x + 1", "2")
		var changed uint64
		for _, pages := range memory.Differing(s.instance.Memory(), before) {
			changed += pages.Length
		}
		if most := uint64(180 * 4096); changed > most {
			t.Errorf("restricted %t: a small step changes %d KiB of memory", restricted, changed>>10)
		}
	}
}
