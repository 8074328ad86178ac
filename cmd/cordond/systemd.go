package main

import (
	"context"
	"log/slog"

	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifySystemd sends our state to systemd, if it asked for that.
func notifySystemd(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("cannot notify systemd", "state", state, "error", err)
	}
}

// watch feeds systemd's watchdog until ctx ends, if there is one. It calls alive first
// each time: when that hangs, systemd restarts the service.
func watch(ctx context.Context, log *slog.Logger, alive func()) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("invalid watchdog interval", "error", err)
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
			notifySystemd(log, daemon.SdNotifyWatchdog)
		}
	}
}
