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
// wait for something new have no more time than that.
const flush = time.Second

// web serves until it is told to end.
type web struct {
	log *slog.Logger
	// frontends are the servers and where they listen.
	frontends []frontend
	// ready says why the service takes nothing.
	ready func() error
	// drain has the service take nothing new, and waits for what is under way.
	drain func(context.Context) error
	grace time.Duration
	// reload reads anew what may change while the service runs.
	reload func() error
}

type frontend struct {
	server *http.Server
	at     net.Listener
}

// serve returns when all that was under way has ended. An end that ctx asked for is no
// error.
func (w *web) serve(ctx context.Context) error {
	// Told to end, the service still answers until it has drained.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	failed := make(chan error, len(w.frontends))
	for _, d := range w.frontends {
		d.server.BaseContext = func(net.Listener) context.Context { return life }
		// Said before it serves: a server without TLS gets a TLSConfig, too, when it does.
		w.log.Info("listening", "address", addressOf(d.at), "tls", d.server.TLSConfig != nil)
		go func() { failed <- serveFrontend(d) }()
	}
	go watch(life, w.log, func() { _ = w.ready() }) // its answer is for others: that there is one is what counts
	go w.reloadOn(life, syscall.SIGHUP)
	tell(w.log, daemon.SdNotifyReady)

	var err error
	select {
	case <-ctx.Done():
		w.log.Info("ending", "reason", context.Cause(ctx).Error(), "grace", w.grace.String())
	case err = <-failed:
		err = run.Errorf(run.Internal, "the service cannot go on: %w", err)
	}
	tell(w.log, daemon.SdNotifyStopping)
	return errors.Join(err, w.end(ctx))
}

func serveFrontend(d frontend) error {
	if d.server.TLSConfig != nil {
		return d.server.ServeTLS(d.at, "", "")
	}
	return d.server.Serve(d.at)
}

// end lets what is under way come to its end, or ends it when the time of grace is over.
func (w *web) end(ctx context.Context) error {
	inside, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.grace)
	defer cancel()
	err := w.drain(inside)
	if inside.Err() != nil {
		w.log.Warn("the time of grace is over: what was still under way has been ended")
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
	if ctx.Err() != nil { // whose cause would be told instead
		w.log.Error("not all has ended as it should", "error", err)
		return cli.ExitCode(run.ExitCode(run.Internal))
	}
	return err
}

// reloadOn reads anew what may change, whenever a signal says so. What is wrong in the new
// leaves the old in force.
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
		tell(w.log, daemon.SdNotifyReloading+"\n"+daemon.SdNotifyMonotonicUsec())
		if err := w.reload(); err != nil {
			w.log.Error("what was read before stays in force", "error", err)
		} else {
			w.log.Info("tokens and certificates were read anew")
		}
		tell(w.log, daemon.SdNotifyReady)
	}
}

func addressOf(l net.Listener) string {
	if a := l.Addr(); a.Network() == "unix" {
		return "unix:" + a.String()
	}
	return l.Addr().String()
}
