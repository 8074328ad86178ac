package main

import (
	"context"
	"log/slog"

	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tell tells systemd how we are, if it has asked to be told.
func tell(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd cannot be told", "state", state, "error", err)
	}
}

// watch shows systemd signs of life until ctx ends, if it wants them. Alive is called for
// each: when it hangs, so do the signs, and systemd starts the service anew.
func watch(ctx context.Context, log *slog.Logger, alive func()) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the watchdog's time is not understood", "error", err)
	}
	if every == 0 {
		return
	}
	beat := time.NewTicker(every / 2)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			alive()
			tell(log, daemon.SdNotifyWatchdog)
		}
	}
}
