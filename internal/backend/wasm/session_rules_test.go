package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Forks and loaded copies of a restricted session are restricted too.
func TestCopiesOfSessionsKeepTheirRules(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, restricted := range []bool{false, true} {
		s := b.session(restricted)
		gives(t, s, "x = 1\nresult = x", "1")
		fork, err := s.fork()
		if err != nil {
			t.Fatal(err)
		}
		defer fork.Close()
		var file bytes.Buffer
		if err := fork.Save(&file); err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf(`"restricted":%v`, restricted); !strings.Contains(file.String()[:1000], said) {
			t.Errorf("no %s in %.300q", said, file.String())
		}
		loaded, err := b.loadSession(t.Context(), &file)
		if err != nil {
			t.Fatal(err)
		}
		defer loaded.Close()
		for name, copied := range map[string]*Session{"itself": s, "a fork": fork, "a loaded one": loaded} {
			if copied.Restricted() != restricted {
				t.Errorf("%s: restricted %v, want %v", name, copied.Restricted(), restricted)
			}
			_, err := copied.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: "import os", Restricted: !restricted}}, Limits: policy.DefaultLimits()})
			if run.ClassOf(err) != run.Invalid {
				t.Errorf("%s: a script by other rules: %v", name, err)
			}
			gives(t, copied, "result = x", "1")
			r := runIn(t, copied, "import os")
			if _, stood := r.Enforcement.Walls[policy.WallLanguage]; r.OK() == restricted || stood != restricted {
				t.Errorf("%s: restricted %v: %s %s %v", name, restricted, r.Outcome, r.Error, r.Enforcement.Walls)
			}
		}
	}
}

// Forks do not see each other's writes, in whatever order they are closed.
func TestForksAreApart(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for name, first := range map[string]int{"the first is closed first": 0, "the fork is closed first": 1} {
		t.Run(name, func(t *testing.T) {
			s := b.session(false)
			gives(t, s, "keep = bytearray(b'x' * 3_000_000)\nresult = len(keep)", "3000000")
			fork, err := s.fork()
			if err != nil {
				t.Fatal(err)
			}
			both := []*Session{s, fork}
			for i, who := range both { // write to its whole memory, and to the part from the image
				gives(t, who, fmt.Sprintf("import sys\nsys.mine = %d\nfor n in range(0, len(keep), 1000): keep[n] = %d\nresult = 0", i, i), "0")
			}
			check := func(i int) {
				t.Helper()
				gives(t, both[i], "result = [sys.mine, sorted(set(keep[::1000])), sorted(set(keep[1::1000]))]", fmt.Sprintf("[%d,[%d],[120]]", i, i))
			}
			check(0)
			check(1)
			if err := both[first].Close(); err != nil {
				t.Error(err)
			}
			other := b.session(false) // may reuse the released memory
			gives(t, other, "keep = bytearray(b'y' * 3_000_000)\nresult = len(keep)", "3000000")
			check(1 - first)
			if err := both[1-first].Close(); err != nil {
				t.Error(err)
			}
			gives(t, other, "result = [keep[0], keep[-1]]", "[121,121]")
		})
	}
}

// A fork made while the Runner closes fails and leaves nothing behind.
func TestForkFailsWhileTheRunnerCloses(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	p, err := b.plain.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i, err := p.Lease()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.closeSessions(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.newSession(i, backend.SessionOptions{}); run.ClassOf(err) != run.Closed {
		t.Errorf("%v, want that the Runner is closed", err)
	}
	if i.Memory() != nil {
		t.Error("its memory is still there")
	}
}

// A closed session releases its memory and is forgotten. Closing the Runner waits for it.
func TestClosedSessionsAreForgotten(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s, other := b.session(false), b.session(false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.instance.Memory() != nil {
		t.Error("its memory is still there")
	}
	if known := b.sessions.All(); len(known) != 1 || known[0] != other {
		t.Errorf("%d sessions are known", len(known))
	}
	if err := other.turns.Take(); err != nil { // as Fork and Save do
		t.Fatal(err)
	}
	closed, ended := make(chan error, 1), make(chan error, 1)
	go func() { closed <- other.Close() }()
	<-other.life.Done()
	go func() { ended <- b.closeSessions() }()
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case err := <-ended:
		t.Errorf("it did not wait: %v", err)
		ended <- nil
	default:
	}
	other.turns.Leave()
	if err := errors.Join(<-closed, <-ended); err != nil {
		t.Error(err)
	}
}
