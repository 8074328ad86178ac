package launch

import (
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// member is a process as the system lists it.
type member struct {
	PID, Parent, Group int
	// Started tells it from another one that gets its number later.
	Started int64
}

// used is what one process has used.
type used struct {
	CPUTime time.Duration
	Memory  policy.Bytes
}

// tree knows the processes of a run: those of its group, and all that were ever seen to
// be children of one. A process can leave its group, and lose its parent; who does both
// between two looks is not found, and the report says so.
type tree struct {
	group int
	seen  map[member]used // by identity: parent and group are zero here
	gone  time.Duration   // CPU time of those that are no more
	peak  policy.Bytes
}

func newTree(group int) *tree { return &tree{group: group, seen: map[member]used{}} }

func (m member) identity() member { return member{PID: m.PID, Started: m.Started} }

// update takes a new list of processes, and returns those of the run. It asks the system
// what each has used.
func (t *tree) update(all []member, ask func(pid int) (used, bool)) (alive []member) {
	ours := map[int]bool{}
	for _, m := range all {
		_, known := t.seen[m.identity()]
		ours[m.PID] = known || m.Group == t.group
	}
	// Children of ours, in whatever order they are listed.
	for changed := true; changed; {
		changed = false
		for _, m := range all {
			if !ours[m.PID] && ours[m.Parent] {
				ours[m.PID], changed = true, true
			}
		}
	}
	var memory policy.Bytes
	now := map[member]used{}
	for _, m := range all {
		if !ours[m.PID] {
			continue
		}
		alive = append(alive, m)
		u, ok := ask(m.PID)
		if !ok {
			u = t.seen[m.identity()] // it is about to go
		}
		now[m.identity()] = u
		memory += u.Memory
	}
	for id, u := range t.seen {
		if _, still := now[id]; !still {
			t.gone += u.CPUTime
		}
	}
	t.seen, t.peak = now, max(t.peak, memory)
	return alive
}

// usage is what all of them have used. The watcher of the wrapper is one of the group.
func (t *tree) usage() Usage {
	u := Usage{CPUTime: t.gone, Memory: t.peak, Processes: max(0, len(t.seen)-1)}
	for _, one := range t.seen {
		u.CPUTime += one.CPUTime
	}
	return u
}
