package launch

import (
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// lifeline is the descriptor whose end of file shows that the Runner has died.
const lifeline = 4

// wrapper returns the script that /bin/sh runs before the program: it sets limits for the
// child alone, starts a watcher that kills the group when the Runner dies, and executes the
// program. The program does not have the lifeline, and the watcher is not its child: a
// program that waits for all its children would wait forever.
//
// It is a shell script because an embedder's program would have to handle being executed
// again in its main.
//
// It does not limit the number of processes, which systems count for a user and not for a
// run, nor memory, whose limits macOS does not enforce reliably; the launcher watches both.
// The unit of file sizes is 512 bytes or 1 KiB, depending on the shell, so one file can be
// up to twice the limit; the launcher also watches the size of the directory.
func wrapper(l policy.Limits) string {
	seconds := int64((l.CPUTime + time.Second - 1) / time.Second)
	blocks := int64(max(l.Scratch, l.Disk)+511) / 512
	return fmt.Sprintf(`ulimit -c 0 && ulimit -t %d && ulimit -n %d && ulimit -f %d || exit 125
( ( read -r x; kill -KILL -$$ ) <&%[4]d >/dev/null 2>&1 3>&- %[4]d<&- & )
exec "$@" %[4]d<&-
`, seconds+1, l.OpenFiles, blocks, lifeline)
}

// wrapped returns the arguments that start a program with the wrapper.
func wrapped(l policy.Limits, program ...string) []string {
	return append([]string{"/bin/sh", "-c", wrapper(l), "cordon"}, program...)
}
