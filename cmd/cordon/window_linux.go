package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

// terminals says that commands can have one.
const terminals = true

// watchSize gives each new size of the window until stop.
func watchSize(screen *os.File) (sizes <-chan run.WindowSize, stop func()) {
	changed, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changed, unix.SIGWINCH)
	newest := make(chan run.WindowSize, 1)
	go func() {
		for {
			select {
			case <-changed:
			case <-done:
				return
			}
			size := sizeOf(screen)
			select {
			case <-newest: // that nobody has taken yet: it is out of date
			default:
			}
			newest <- size
		}
	}()
	return newest, func() {
		signal.Stop(changed)
		close(done)
	}
}
