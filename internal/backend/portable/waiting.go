package portable

import (
	"runtime"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend/ahead"
)

// Waiting says how interpreters are started before their scripts arrive. None waits for a script
// whose proxy has to be there first.
type Waiting struct {
	// Max bounds them, MaxEach those of one kind.
	Max, MaxEach int
	// Lifetime is how long an interpreter waits.
	Lifetime time.Duration
	// Grants identifies the files that an interpreter could read if it were started now. One
	// that could read others is not used.
	Grants func() (string, error)
}

func (b *Scripts) newWaiting() *ahead.Pool[kind, *interpreting] {
	w := b.options.Waiting
	if w == nil || b.network.proxied() && !b.network.own {
		return nil
	}
	return ahead.New(ahead.Options[kind, *interpreting]{
		Make: b.interpretAhead,
		Discard: func(i *interpreting) {
			i.discard()
			b.keepError(i.free())
		},
		Busy: func() bool { return b.gate.Running() > runtime.NumCPU() },
		Max:  w.Max, MaxEach: w.MaxEach, Lifetime: w.Lifetime,
	})
}

// interpretAhead starts an interpreter that is ready for a script.
func (b *Scripts) interpretAhead(k kind) (*interpreting, error) {
	preparation, err := b.preparation(k.rules, true, k.limits)
	if err != nil {
		return nil, err
	}
	i, err := b.interpret(k)
	if err != nil {
		return nil, err
	}
	if err := i.wait(preparation); err != nil {
		b.keepError(i.free())
		return nil, err
	}
	b.setups.Since(i.began)
	return i, nil
}
