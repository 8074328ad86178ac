package command

import (
	"sync"
	"time"
)

// settleTime is more than the steps in which file systems tell the time. What
// changed less than that ago may change once more and show the same time.
const settleTime = 2 * time.Second

// rememberMost bounds what is remembered; a Runner meets some dozens of
// commands, and a guest must not be able to fill memory with its files.
const rememberMost = 512

type cacheKey struct {
	identity
	most int64
}

// memory keeps what files are. It holds no state of a Runner: what it says
// follows from a file's identity alone, and so all may share it.
type memory struct {
	mu  sync.Mutex
	all map[cacheKey]nature
}

var remembered = memory{all: map[cacheKey]nature{}}

func (m *memory) get(key cacheKey) (nature, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.all[key]
	return n, ok
}

func (m *memory) put(key cacheKey, n nature) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) >= rememberMost {
		// Any will do, and a map gives them in no order.
		for old := range m.all {
			delete(m.all, old)
			if len(m.all) <= rememberMost/2 {
				break
			}
		}
	}
	m.all[key] = n
}
