package zygote

import "sync"

// A script that runs often is compiled once. In a worker whose caches are cold, compiling
// even the shortest script takes a quarter of the run.
//
// A worker sends the code object before it runs any guest code, so the code depends on
// nothing but the script's text. See SECURITY.md.
const (
	// maxCode bounds a code object, and maxSource its script.
	maxCode   = 64 << 10
	maxSource = 16 << 10
	// maxCodes is the number of scripts in a generation.
	maxCodes = 128
)

// source is what a code object is compiled from, including the script's name.
type source struct{ script, name string }

// code is the cached state of a source.
type code struct {
	data    []byte // marshalled; empty if unknown
	refused bool   // it cannot be cached: it is too large, or compiling it warns
}

// Codes caches the compiled code of scripts in two generations. When the young one is
// full, it replaces the old one. An entry that is used again moves to the young one.
type Codes struct {
	mu         sync.Mutex
	young, old map[source]code
}

// find returns the code of a source. If there is none, it reports whether to ask the
// worker for it: not on the script's first run, which may be its only one.
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

// keep stores a worker's answer. An empty one means that the code cannot be cached.
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
