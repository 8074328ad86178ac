package zygote

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// OpenScratch opens the worker's private /tmp. It stays open, with what the guest has left
// there, when the worker is dead.
func (w *Worker) OpenScratch() (*os.Root, error) {
	root, err := os.OpenRoot("/proc/" + strconv.Itoa(w.PID) + "/root" + confine.Scratch)
	if err != nil {
		return nil, fmt.Errorf("the guest's %s cannot be opened: %w", confine.Scratch, err)
	}
	// As long as the process exists, no other one can have had its pid.
	err = os.ErrClosed
	w.pidfd.use(func(fd int) { err = unix.PidfdSendSignal(fd, 0, nil, 0) })
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("the guest is gone: %w", err)
	}
	return root, nil
}
