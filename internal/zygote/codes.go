package zygote

import "sync"

// A script that comes again and again is compiled once. To compile the shortest
// one takes a worker whose caches have cooled down a quarter of its run.
//
// What is kept was made by a worker that had seen this one script and had not
// run it yet: nothing but its text has a part in it. See SECURITY.md.
const (
	// maxCode bounds one code object, and maxSource the script it is made of.
	maxCode   = 64 << 10
	maxSource = 16 << 10
	// maxCodes is how many scripts a generation has.
	maxCodes = 128
)

// source is what a code object is made of: the name is part of it.
type source struct{ script, name string }

// code is what is known of a source.
type code struct {
	data    []byte // marshalled; empty when it is not known
	refused bool   // it is of no use: too large, or its compiler warns
}

// Codes remembers the code of scripts. It has two generations: when the young
// one is full it becomes the old one, whose place it takes, and what is used
// again is young again.
type Codes struct {
	mu         sync.Mutex
	young, old map[source]code
}

// find gives the code of a source if it is known. Otherwise it says whether to
// ask the worker for it: not at the first time, when it may be the last.
func (c *Codes) find(s source) (data []byte, ask bool) {
	if c == nil || len(s.script) > maxSource {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, seen := c.young[s]
	if !seen {
		known, seen = c.old[s]
		c.put(s, known)
	}
	return known.data, seen && len(known.data) == 0 && !known.refused
}

// keep remembers what a worker has said; nothing means that it is of no use.
func (c *Codes) keep(s source, data []byte) {
	if len(data) > maxCode {
		data = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(s, code{data: data, refused: len(data) == 0})
}

func (c *Codes) put(s source, known code) {
	if _, replaces := c.young[s]; !replaces && len(c.young) >= maxCodes || c.young == nil {
		c.old, c.young = c.young, make(map[source]code, maxCodes)
	}
	c.young[s] = known
}
