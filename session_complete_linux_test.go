package cordon_test

import (
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

func TestCompleteInProcess(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	completesAnySession(t, openSession(t, r, run.SessionOptions{}))
	s := openSession(t, r, run.SessionOptions{})
	gives(t, s, "class C:\n    def __init__(self): self.inside = [1]\nc = C()\nopen('mine.py', 'w').write('mine_too = 1')\nresult = 1", "1")
	completes(t, s, "c.ins", "inside")
	completes(t, s, "c.inside.app", "append")
	completes(t, s, "import min", "mine")
	completes(t, s, "from mine import min", "mine_too")
	completes(t, s, "from xml.et", "etree")
	completes(t, s, "from xml import et", "etree")
}

func TestCompleteInRestrictedSession(t *testing.T) {
	s := openSession(t, newRunner(t, cordon.Options{}), run.SessionOptions{Restricted: true})
	gives(t, s, "import math\nvalues = [1]\nresult = 1", "1")
	completes(t, s, "valu", "values")
	completes(t, s, "values.ext", "extend")
	completes(t, s, "math.factor", "factorial")
	completes(t, s, "from subprocess import Pop")
	completes(t, s, "isinst", "isinstance")
}

// What a guest does while a name is completed is interrupted, forged or its own end.
func TestCompleteHostile(t *testing.T) {
	r := newRunner(t, cordon.Options{})
	s := openSession(t, r, run.SessionOptions{})
	gives(t, s, endlessObject, "1")
	completes(t, s, "endless.x")
	completes(t, s, "endless.x.y")
	gives(t, s, "result = 2", "2")
	gives(t, s, "class Lies:\n    def __dir__(self): return ['real', 'r' * 999, 'r\\n']\nlies = Lies()\nresult = 3", "3")
	completes(t, s, "lies.re", "real")
	gives(t, s, "class Many:\n    def __dir__(self): return ['n%05d' % n for n in range(50000)]\nmany = Many()\nresult = 4", "4")
	if names, err := s.Complete(t.Context(), "many.n"); err != nil || len(names) != 1000 {
		t.Errorf("%d names, %v", len(names), err)
	}
	gives(t, s, "class Leaves:\n    def __dir__(self): raise SystemExit\n    __repr__ = __dir__\nleaves = Leaves()\nresult = 5", "5")
	completes(t, s, "leaves.x")
	if list, _, err := s.Variables(t.Context()); err != nil || len(list) == 0 {
		t.Errorf("variables: %v", err)
	}
	gives(t, s, "class Dies:\n    def __dir__(self): __import__('os')._exit(7)\ndies = Dies()\nresult = 6", "6")
	if _, err := s.Complete(t.Context(), "dies.x"); run.ClassOf(err) != run.Gone {
		t.Errorf("the session ended meanwhile: %v", err)
	}
	if _, err := s.Run(t.Context(), stepOf("1")); run.ClassOf(err) != run.Gone {
		t.Errorf("a step after that: %v", err)
	}
}
