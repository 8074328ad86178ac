package containtest

import "errors"

// arm64 has one foreign ABI, with 32 bits, and a process cannot switch to it.
var (
	foreignCalls    []systemCall
	foreignPrograms map[string][]byte
)

func foreignAttempts() []attempt { return nil }

var errForeign = errors.New("the system call failed")
