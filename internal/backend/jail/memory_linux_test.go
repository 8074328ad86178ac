package jail

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// In a sandbox's first moment the init is still a copy of the Runner, and its memory does not
// count.
func TestMemoryOfTheInitDoesNotCount(t *testing.T) {
	proc := t.TempDir()
	for pid, kilobytes := range map[int]int{1: 300 << 10, 2: 100} {
		directory := filepath.Join(proc, fmt.Sprint(pid))
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		status := fmt.Sprintf("PPid:\t%d\nVmSize:\t%d kB\nRssAnon:\t%d kB\n", pid-1, 2*kilobytes, kilobytes)
		if err := os.WriteFile(filepath.Join(directory, "status"), []byte(status), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := os.Open(proc)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if got := sumMemory(processes{proc: int(opened.Fd())}, quickMemory); got != 100<<10 {
		t.Errorf("%d bytes instead of %d", got, 100<<10)
	}
}
