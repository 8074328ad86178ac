package launch

import (
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// lifeline is the descriptor that shows a process that the Runner is gone.
const lifeline = 4

// wrapper is what /bin/sh does before the program: it sets limits for the child alone,
// and starts a watcher that ends the group when the Runner dies. Then it executes the
// program, which has neither the lifeline nor the watcher as a child: a program that
// waits for all its children would wait for ever.
//
// It is a shell and not this program again: an embedder's program would have to handle
// that in its main.
//
// Not here: the number of processes, which is counted for a user and not for a run, and
// memory, for which macOS can be relied on in none of these; both are watched. Sizes of files
// are in units of 512 bytes or 1 KiB, as shells differ; so one file has at most twice
// the limit, and the directory's size is watched.
func wrapper(l policy.Limits) string {
	seconds := int64((l.CPUTime.Std() + time.Second - 1) / time.Second)
	blocks := int64(max(l.Scratch, l.Disk)+511) / 512
	return fmt.Sprintf(`ulimit -c 0 && ulimit -t %d && ulimit -n %d && ulimit -f %d || exit 125
( ( read -r x; kill -KILL -$$ ) <&%[4]d >/dev/null 2>&1 3>&- %[4]d<&- & )
exec "$@" %[4]d<&-
`, seconds+1, l.OpenFiles, blocks, lifeline)
}

// wrapped are the arguments that start a program by the wrapper.
func wrapped(l policy.Limits, program ...string) []string {
	return append([]string{"/bin/sh", "-c", wrapper(l), "cordon"}, program...)
}
