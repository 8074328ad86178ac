package launch

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

func TestTree(t *testing.T) {
	const second = time.Second
	times := map[int]time.Duration{10: second, 11: second, 12: second, 13: second, 20: 100 * second}
	ask := func(pid int) (used, bool) { return used{times[pid], policy.MiB}, pid != 13 }
	tr := newTree(10)
	first := member{PID: 10, Parent: 1, Group: 10, Started: 1}
	watcher := member{PID: 11, Parent: 1, Group: 10, Started: 1}
	stranger := member{PID: 20, Parent: 1, Group: 20, Started: 1}

	// A grandchild in another group is listed before its parent.
	grandchild := member{PID: 13, Parent: 12, Group: 13, Started: 2}
	child := member{PID: 12, Parent: 10, Group: 12, Started: 2}
	if alive := tr.update([]member{stranger, grandchild, child, first, watcher}, ask); len(alive) != 4 {
		t.Fatalf("%v", alive)
	}
	if u := tr.usage(); u.Processes != 3 || u.CPUTime != 3*second || u.Memory != 3*policy.MiB {
		t.Errorf("%+v: the watcher is not counted, nor is who cannot be asked", u)
	}

	// The child has ended, and the grandchild has another parent: it is still found.
	orphan := member{PID: 13, Parent: 1, Group: 13, Started: 2}
	if alive := tr.update([]member{stranger, orphan, first, watcher}, ask); len(alive) != 3 {
		t.Fatalf("%v", alive)
	}
	if u := tr.usage(); u.CPUTime != 3*second || u.Memory != 3*policy.MiB {
		t.Errorf("%+v: the time of the dead counts, and the most memory that was seen", u)
	}

	// Another process gets its pid.
	other := member{PID: 13, Parent: 1, Group: 13, Started: 9}
	if alive := tr.update([]member{stranger, other, first, watcher}, ask); len(alive) != 2 {
		t.Errorf("%v: a stranger was taken for ours", alive)
	}
}

func TestReadRusage(t *testing.T) {
	b := make([]byte, rusageSize)
	binary.LittleEndian.PutUint64(b[16:], 48_000_000)
	binary.LittleEndian.PutUint64(b[24:], 24_000_000)
	binary.LittleEndian.PutUint64(b[72:], 5<<20)
	for _, tt := range []struct {
		frequency uint64
		want      time.Duration
	}{{24_000_000, 3 * time.Second}, {1_000_000_000, 72 * time.Millisecond}} {
		if u, ok := readRusage(b, tt.frequency); !ok || u.CPUTime != tt.want || u.Memory != 5*policy.MiB {
			t.Errorf("%+v, %v", u, ok)
		}
	}
	if _, ok := readRusage(b, 0); ok {
		t.Error("a clock that stands still")
	}
	if _, ok := readRusage(b[:95], 1); ok {
		t.Error("half an answer")
	}
	binary.LittleEndian.PutUint64(b[16:], 1<<63)
	if _, ok := readRusage(b, 1); ok {
		t.Error("more time than there is")
	}
}
