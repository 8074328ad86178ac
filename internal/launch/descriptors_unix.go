//go:build unix

package launch

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/run"
)

// keepDescriptors makes sure that a child inherits no descriptor by accident. Go sets
// close-on-exec on what it opens, but this process may have inherited descriptors from a
// shell or a supervisor. It runs before each start, because code that is not Go may have
// opened new ones.
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
		unix.CloseOnExec(fd) // a descriptor closed in the meantime is no problem
	}
	return nil
}
