package backend

import "context"

// Turns lets the uses of a session wait for each other, until the session is over.
type Turns struct {
	free chan struct{} // has an element while nobody has the turn
	over error         // why no other use can begin; belongs to the turn
}

// NewTurns returns the turns of a session that nobody uses yet.
func NewTurns() *Turns {
	t := &Turns{free: make(chan struct{}, 1)}
	t.Leave()
	return t
}

// Enter waits for the turn of a run, and counts it at the gate. leave ends both.
func (t *Turns) Enter(ctx context.Context, gate *Gate) (leave func(), err error) {
	select {
	case <-t.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := t.over; err != nil {
		t.Leave()
		return nil, err
	}
	pass, err := gate.Enter(ctx)
	if err != nil {
		t.Leave()
		return nil, err
	}
	return func() {
		pass.Leave()
		t.Leave()
	}, nil
}

// Take waits for the turn, without an end. It returns why the session is over, without the turn.
func (t *Turns) Take() error {
	<-t.free
	if t.over != nil {
		defer t.Leave()
	}
	return t.over
}

// Try takes the turn if nobody has it and the session is not over.
func (t *Turns) Try() bool {
	select {
	case <-t.free:
	default:
		return false
	}
	if t.over != nil {
		t.Leave()
		return false
	}
	return true
}

// Leave gives the turn back.
func (t *Turns) Leave() { t.free <- struct{}{} }

// End refuses all other uses for this reason. The caller has the turn.
func (t *Turns) End(why error) { t.over = why }
