package zygote

import (
	"context"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// singlePatience is about as long as a single worker puts up its walls.
const singlePatience = 2 * time.Millisecond

// Become has a zygote that was launched with OneShot turn into its only worker.
// The order is on the socket before the interpreter is there to read it, so
// that nobody waits for anybody before the walls stand.
func (z *Zygote) Become(ctx context.Context, limits policy.Limits, join int, onEnd func()) (*Worker, error) {
	w := z.newWorker(limits, onEnd)
	// Its limits follow with the guest, when it is known how much the
	// interpreter itself takes.
	ordering := w.order([]any{}, join)
	if ordering != nil {
		z.process.Kill() // if it is not dead already: its greeting says why
	}
	if err := z.meet(ctx); err != nil {
		w.closeStreams()
		w.end(Exit{})
		if ordering != nil {
			err = fmt.Errorf("%w (%w)", err, ordering)
		}
		return nil, err
	}
	if err := w.awaitReady(ctx, singlePatience); err != nil {
		w.Close()
		return nil, w.autopsy(ctx, err)
	}
	return w, nil
}
