//go:build unix

package launch

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

// keepDescriptors has no descriptor of ours pass to a child by accident. What Go opens
// does not; what this process has inherited itself, from a shell or a supervisor, would.
// It is done before each start: there may be new ones, of code that is not Go.
func keepDescriptors() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return run.Errorf(run.Internal, "the descriptors of this process cannot be listed: %w", err)
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		unix.CloseOnExec(fd) // one that was closed meanwhile needs nothing
	}
	return nil
}
