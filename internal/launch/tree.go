package launch

import (
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// member is a process as the system lists it.
type member struct {
	PID, Parent, Group int
	// Started distinguishes it from a later process with the same pid.
	Started int64
}

// used is the resource use of one process.
type used struct {
	CPUTime time.Duration
	Memory  policy.Bytes
}

// tree tracks the processes of a run: those of its group, and all that were ever listed as
// children of one. A process that leaves its group and loses its parent between two lists
// is not found; the report of walls says so.
type tree struct {
	group int
	seen  map[member]used // by identity, without parent and group
	ended time.Duration   // CPU time of processes that have ended
	peak  policy.Bytes
}

func newTree(group int) *tree { return &tree{group: group, seen: map[member]used{}} }

func (m member) identity() member { return member{PID: m.PID, Started: m.Started} }

// update evaluates a new list of processes and returns those of the run. It calls ask for
// the resource use of each.
func (t *tree) update(all []member, ask func(pid int) (used, bool)) (alive []member) {
	ours := map[int]bool{}
	for _, m := range all {
		_, known := t.seen[m.identity()]
		ours[m.PID] = known || m.Group == t.group
	}
	// Find children of known processes, in any order of the list.
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
			u = t.seen[m.identity()] // it is about to end
		}
		now[m.identity()] = u
		memory += u.Memory
	}
	for id, u := range t.seen {
		if _, still := now[id]; !still {
			t.ended += u.CPUTime
		}
	}
	t.seen, t.peak = now, max(t.peak, memory)
	return alive
}

// usage returns what all processes have used. The wrapper's watcher is one of the group.
func (t *tree) usage() Usage {
	u := Usage{CPUTime: t.ended, Memory: t.peak, Processes: max(0, len(t.seen)-1)}
	for _, one := range t.seen {
		u.CPUTime += one.CPUTime
	}
	return u
}
