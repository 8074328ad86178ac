package jsonlines

import (
	"strconv"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/opened"
	"github.com/cordon-sandbox/cordon/internal/openhooks"
)

const (
	// maxHooks bounds the open hooks. One more closes the least recently called one: its
	// next call is answered as unknown, and the caller opens it again.
	maxHooks = 64
	// owner is the only caller: the program at the other end of the pipe.
	owner = ""
)

// newHooks returns a table whose ids are small numbers. They need not be secret, because
// there is only one caller.
func newHooks() *openhooks.Table {
	var made atomic.Uint64
	return openhooks.NewTable(opened.Options{
		PerOwner: maxHooks, Evict: true, NewID: func() string { return strconv.FormatUint(made.Add(1), 10) },
	})
}
