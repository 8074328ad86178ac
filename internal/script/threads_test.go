package script

import (
	"runtime"
	"testing"
)

func TestLibraryThreads(t *testing.T) {
	for name, tt := range map[string]struct{ cpus, threads, want int }{
		"the default":          {1, 16, 1},
		"no limits":            {0, 0, 1},
		"one thread":           {4, 1, 1},
		"more than the host's": {1 << 20, 1 << 20, runtime.NumCPU()},
	} {
		if got := LibraryThreads(tt.cpus, tt.threads); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
