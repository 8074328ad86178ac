package scratch

import (
	"cmp"
	"slices"
)

// names are the names in a directory, in the order in which they were added, so that a listing
// can continue after changes.
type names struct {
	parent *node
	by     map[string]*entry
	order  []*entry
	gone   int    // of order
	next   uint64 // entry's turn
}

// entry is one name. A removed one has no node.
type entry struct {
	name string
	node *node
	turn uint64
}

func (n *names) count() int { return len(n.by) }

func (n *names) get(name string) *node {
	if e := n.by[name]; e != nil {
		return e.node
	}
	return nil
}

// add adds a name that does not exist.
func (n *names) add(name string, node *node) {
	if n.by == nil {
		n.by = map[string]*entry{}
	}
	e := &entry{name: name, node: node, turn: n.next}
	n.next++
	n.by[name] = e
	n.order = append(n.order, e)
}

func (n *names) remove(name string) {
	e := n.by[name]
	delete(n.by, name)
	e.name, e.node = "", nil
	n.gone++
	n.compact()
}

// compact releases memory: maps of Go do not shrink, and a guest that filled one directory
// after the other would use more than was counted.
func (n *names) compact() {
	switch {
	case len(n.by) == 0:
		n.by, n.order, n.gone = nil, nil, 0
	case n.gone > 8 && n.gone > len(n.by):
		order, by := make([]*entry, 0, len(n.by)), make(map[string]*entry, len(n.by))
		for _, e := range n.order {
			if e.node != nil {
				order, by[e.name] = append(order, e), e
			}
		}
		n.by, n.order, n.gone = by, order, 0
	}
}

// from lists the entries from this turn on.
func (n *names) from(turn uint64) []*entry {
	at, _ := slices.BinarySearchFunc(n.order, turn, func(e *entry, turn uint64) int { return cmp.Compare(e.turn, turn) })
	return n.order[at:]
}
