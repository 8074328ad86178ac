package zygote

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A Runner with CAP_SYS_RESOURCE could raise a limit of the host.
func TestLimitsOfTheHostAreNotRaised(t *testing.T) {
	for _, tt := range []struct{ wanted, hard, want uint64 }{
		{100, 200, 100},
		{200, 100, 100},
		{100, unix.RLIM_INFINITY, 100},
	} {
		if got := (rlimit{unix.RLIMIT_DATA, tt.wanted}).under(tt.hard); got.Cur != tt.want || got.Max != tt.want {
			t.Errorf("%d with a hard limit of %d: %+v, want %d", tt.wanted, tt.hard, *got, tt.want)
		}
	}
}
