package zygote

import (
	"context"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/policy"
)

// singlePatience is about as long as a single worker takes to set up its walls.
const singlePatience = 2 * time.Millisecond

// Become turns a zygote that was launched with OneShot into its only worker. The request
// is on the socket before the interpreter reads it, so that neither side waits for the
// other before the walls stand.
func (z *Zygote) Become(ctx context.Context, scratch policy.Bytes, join int, onEnd func()) (*Worker, error) {
	w := z.newWorker(onEnd)
	requested := w.requestFork(scratch, join)
	if requested != nil {
		z.process.Kill() // its greeting says what is wrong
	}
	if err := z.handshake(ctx); err != nil {
		w.closeStreams()
		w.end(Exit{})
		if requested != nil {
			err = fmt.Errorf("%w (%w)", err, requested)
		}
		return nil, err
	}
	patience := singlePatience
	if z.config.Untuned.Has(tuning.Polling) {
		patience = 0
	}
	if err := w.awaitReady(ctx, patience); err != nil {
		w.Close()
		return nil, w.autopsy(ctx, err)
	}
	return w, nil
}
