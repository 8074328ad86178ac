package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

// terminals says that commands can have a terminal.
const terminals = true

// watchSize sends each new size of the window until stop is called.
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
			case <-newest: // not read yet, and out of date
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
