package zygote

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Every signal has a name, so an exit without one has an exit code.
func TestExitOf(t *testing.T) {
	for _, test := range []struct {
		status unix.WaitStatus
		want   Exit
	}{
		{0, Exit{}},
		{3 << 8, Exit{Code: 3}},
		{unix.WaitStatus(unix.SIGSEGV), Exit{Code: -1, Signal: "SIGSEGV"}},
		{unix.WaitStatus(unix.SIGSEGV) | 0x80, Exit{Code: -1, Signal: "SIGSEGV"}}, // with a core
		{32, Exit{Code: -1, Signal: "SIG32"}},
		{35, Exit{Code: -1, Signal: "SIGRTMIN+1"}},
		{64, Exit{Code: -1, Signal: "SIGRTMIN+30"}},
	} {
		if got := exitOf(test.status, 0, 0); got != test.want {
			t.Errorf("%#x: %+v, want %+v", test.status, got, test.want)
		}
	}
}
