package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/run"
)

// flush is how long answers may take to arrive once all runs have ended. Streams that
// wait for new events have no longer than that.
const flush = time.Second

// web serves until it is asked to stop.
type web struct {
	log *slog.Logger
	// frontends are the servers with their listeners.
	frontends []frontend
	// ready returns why the service refuses requests.
	ready func() error
	// drain makes the service refuse new requests, and waits for those under way.
	drain func(context.Context) error
	grace time.Duration
	// reload rereads what may change while the service runs.
	reload func() error
}

type frontend struct {
	server *http.Server
	at     net.Listener
}

// serve returns when everything under way has ended. A shutdown that ctx asked for is not
// an error.
func (w *web) serve(ctx context.Context) error {
	// Asked to stop, the service still answers until it has drained.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	failed := make(chan error, len(w.frontends))
	for _, d := range w.frontends {
		d.server.BaseContext = func(net.Listener) context.Context { return life }
		// Logged before it serves, since a server sets a TLSConfig even without TLS.
		w.log.Info("listening", "address", addressOf(d.at), "tls", d.server.TLSConfig != nil)
		go func() { failed <- serveFrontend(d) }()
	}
	go watch(life, w.log, func() { _ = w.ready() }) // it only matters that ready returns
	go w.reloadOn(life, syscall.SIGHUP)
	notifySystemd(w.log, daemon.SdNotifyReady)

	var err error
	select {
	case <-ctx.Done():
		w.log.Info("ending", "reason", context.Cause(ctx).Error(), "grace", w.grace.String())
	case err = <-failed:
		err = run.Errorf(run.Internal, "the service cannot continue: %w", err)
	}
	notifySystemd(w.log, daemon.SdNotifyStopping)
	return errors.Join(err, w.end(ctx))
}

func serveFrontend(d frontend) error {
	if d.server.TLSConfig != nil {
		return d.server.ServeTLS(d.at, "", "")
	}
	return d.server.Serve(d.at)
}

// end waits for what is under way, or cancels it when the grace period is over.
func (w *web) end(ctx context.Context) error {
	inside, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.grace)
	defer cancel()
	err := w.drain(inside)
	if inside.Err() != nil {
		w.log.Warn("the grace period is over: canceled what was still under way")
	}
	inside, cancel = context.WithTimeout(context.WithoutCancel(ctx), flush)
	defer cancel()
	for _, d := range w.frontends {
		if late := d.server.Shutdown(inside); errors.Is(late, context.DeadlineExceeded) {
			late = d.server.Close()
			err = errors.Join(err, late)
		} else {
			err = errors.Join(err, late)
		}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // the caller would see its cause instead
		w.log.Error("the shutdown was not clean", "error", err)
		return cli.ExitCode(cli.ClassCode(run.Internal))
	}
	return err
}

// reloadOn rereads what may change whenever a signal arrives. If the new is invalid, the
// old stays in force.
func (w *web) reloadOn(ctx context.Context, signals ...os.Signal) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, signals...)
	defer signal.Stop(heard)
	for {
		select {
		case <-ctx.Done():
			return
		case <-heard:
		}
		notifySystemd(w.log, daemon.SdNotifyReloading+"\n"+daemon.SdNotifyMonotonicUsec())
		if err := w.reload(); err != nil {
			w.log.Error("reload failed: the previous state stays in force", "error", err)
		} else {
			w.log.Info("tokens and certificates were reloaded")
		}
		notifySystemd(w.log, daemon.SdNotifyReady)
	}
}

func addressOf(l net.Listener) string {
	if a := l.Addr(); a.Network() == "unix" {
		return "unix:" + a.String()
	}
	return l.Addr().String()
}
