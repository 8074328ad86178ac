package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Held is the memory of processes with each shared page divided by its users, and all of the
// memory files that they have open, also what is not mapped.
func Held(pids []int) (sum int64, err error) {
	counted := map[uint64]bool{}
	for _, pid := range pids {
		for _, key := range []string{"Pss_Anon:", "Pss_File:"} {
			n, err := kilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), key)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		directory := fmt.Sprintf("/proc/%d/fd", pid)
		entries, err := os.ReadDir(directory)
		if err != nil {
			return 0, err
		}
		for _, entry := range entries {
			name := filepath.Join(directory, entry.Name())
			if target, err := os.Readlink(name); err != nil || !strings.HasPrefix(target, "/memfd:") {
				continue
			}
			var stat syscall.Stat_t
			if err := syscall.Stat(name, &stat); err != nil {
				return 0, err
			}
			if !counted[stat.Ino] {
				counted[stat.Ino] = true
				sum += stat.Blocks * 512
			}
		}
	}
	return sum, nil
}
