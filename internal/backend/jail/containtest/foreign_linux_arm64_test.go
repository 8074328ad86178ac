package containtest

import "errors"

// arm64 has one foreign ABI, of 32 bits, and a process cannot change between them.
var (
	foreignCalls    []systemCall
	foreignPrograms map[string][]byte
)

func foreignAttempts() []attempt { return nil }

var errForeign = errors.New("it had no answer")
