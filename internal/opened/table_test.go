package opened

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeHook counts how often it is closed.
type fakeHook struct {
	closed  atomic.Int64
	failure error
}

func (h *fakeHook) Close() error {
	h.closed.Add(1)
	return h.failure
}

func add(t *testing.T, table *Table[*fakeHook], owner string, h *fakeHook) (id string) {
	t.Helper()
	if err := table.Reserve(owner); err != nil {
		t.Fatal(err)
	}
	return table.Add(owner, "", h)
}

// One hook too many closes the owner's least recently called one, and no other.
func TestAddEvictsLeastRecentlyCalled(t *testing.T) {
	const most = 8
	table := NewTable[*fakeHook](Options{Kind: "hook", PerOwner: most, Evict: true})
	others := &fakeHook{}
	other := add(t, table, "bob", others)
	var ids []string
	var hooks []*fakeHook
	for range most {
		h := &fakeHook{}
		hooks = append(hooks, h)
		ids = append(ids, add(t, table, "alice", h))
	}
	for i, id := range ids {
		if i != 1 {
			one, err := table.Use("alice", id)
			if err != nil {
				t.Fatal(err)
			}
			table.Done(one)
		}
	}
	add(t, table, "alice", &fakeHook{})
	if _, err := table.Use("alice", ids[1]); run.ClassOf(err) != run.Unknown {
		t.Errorf("the least recently called one: %v", err)
	}
	if _, err := table.Use("bob", other); err != nil {
		t.Errorf("another owner's: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	for i, h := range append(hooks, others) {
		if n := h.closed.Load(); n != 1 {
			t.Errorf("hook %d was closed %d times", i, n)
		}
	}
}

// An evicted hook is closed after its calls, and nobody waits for that.
func TestEvictedHookFinishesItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable[*fakeHook](Options{Kind: "hook", PerOwner: 1, Evict: true})
		h := &fakeHook{failure: errors.New("stuck")}
		one, err := table.Use("", add(t, table, "", h))
		if err != nil {
			t.Fatal(err)
		}
		add(t, table, "", &fakeHook{})
		synctest.Wait()
		if h.closed.Load() != 0 {
			t.Error("closed during a call")
		}
		table.Done(one)
		if err := table.Close(); !errors.Is(err, h.failure) || h.closed.Load() != 1 {
			t.Errorf("%v, closed %d times", err, h.closed.Load())
		}
	})
}

func TestReserveRefusesTooMany(t *testing.T) {
	table := NewTable[*fakeHook](Options{Kind: "hook", PerOwner: 2})
	add(t, table, "alice", &fakeHook{})
	if err := table.Reserve("alice"); err != nil {
		t.Fatal(err)
	}
	if err := table.Reserve("alice"); !errors.Is(err, run.ErrBusy) {
		t.Errorf("error %v", err)
	}
	if err := table.Reserve("bob"); err != nil {
		t.Errorf("another owner: %v", err)
	}
	table.Release("bob")
	table.Release("alice")
	if err := errors.Join(table.Reserve("alice"), table.Close()); err != nil {
		t.Error(err)
	}
	table.Release("alice")
	if len(table.open) != 0 || len(table.held) != 0 {
		t.Errorf("%d open, %d held", len(table.open), len(table.held))
	}
}

// A timer that fires while a call begins closes nothing.
func TestExpireSparesHookInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Minute
		table := NewTable[*fakeHook](Options{Kind: "hook", PerOwner: 1, Idle: idle})
		h := &fakeHook{}
		one, err := table.Use("", add(t, table, "", h))
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * idle)
		table.expire(one)
		table.Done(one)
		table.expire(one)
		if h.closed.Load() != 0 {
			t.Error("closed in its use")
		}
		<-time.After(idle)
		synctest.Wait()
		if h.closed.Load() != 1 || table.Len() != 0 || len(table.held) != 0 {
			t.Errorf("closed %d times, %d open, %d held", h.closed.Load(), table.Len(), len(table.held))
		}
	})
}
