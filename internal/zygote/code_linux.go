package zygote

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/internal/wire"
)

// largePage is the size of a large page on amd64.
const largePage = 2 << 20

// describeCode sends the zygote the addresses of its own code. The zygote cannot find
// them itself, because it has no /proc behind its walls.
func (z *Zygote) describeCode() error {
	ranges := []any{}
	if largePages() && !z.config.Untuned.Has(tuning.LargePages) {
		maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", z.process.Pid))
		if err != nil {
			return err
		}
		defer maps.Close()
		ranges = codeRanges(maps)
	}
	answer, err := wire.AppendValue(nil, ranges)
	if err != nil {
		return err
	}
	return sendMessage(z.control.number(), answer)
}

// largePages reports whether code can be moved into large pages. That is supported on
// amd64 only: CPUs whose instruction caches do not see writes to data need more care.
func largePages() bool {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && !strings.Contains(string(setting), "[never]") && runtime.GOARCH == "amd64"
}

// codeRanges returns the large pages that lie completely within the interpreter's own
// code and constants. Libraries of preloaded modules are not moved: they can be much
// larger, and most guests use none of them.
func codeRanges(maps io.Reader) []any {
	ranges := []any{}
	var start, end uint64
	var file string
	var code bool
	finish := func() {
		first, last := (start+largePage-1)/largePage*largePage, end/largePage*largePage
		if code && first < last {
			ranges = append(ranges, []any{int64(first), int64(last)})
		}
		file, code = "", false
	}
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uint64
		var mode, offset, device, inode, path string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %s %s %s %s", &from, &to, &mode, &offset, &device, &inode, &path); n < 7 || !strings.HasPrefix(mode, "r-") || !isInterpreter(path) {
			finish()
			continue
		}
		if path != file || from != end {
			finish()
			start, file = from, path
		}
		end = to
		code = code || mode[2] == 'x'
	}
	finish()
	return ranges
}

func isInterpreter(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "libpython")
}
