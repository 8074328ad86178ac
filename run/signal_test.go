package run

import (
	"strings"
	"testing"
)

func TestSignalNames(t *testing.T) {
	for n, want := range map[int]string{
		1: "SIGHUP", 2: "SIGINT", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 15: "SIGTERM", 16: "SIGSTKFLT",
		17: "SIGCHLD", 19: "SIGSTOP", 24: "SIGXCPU", 29: "SIGIO", 31: "SIGSYS", 32: "SIG32", 33: "SIG33", 34: "SIGRTMIN", 35: "SIGRTMIN+1", 64: "SIGRTMIN+30",
		0: "SIG0", -1: "SIG-1", 65: "SIG65", // not signals, but an empty name would mean that there was none
	} {
		if got := SignalName(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestSignalNumbers(t *testing.T) {
	for n := 1; n <= 64; n++ {
		name := SignalName(n)
		if got, known := SignalNumber(name); !known || got != n || !strings.HasPrefix(name, "SIG") {
			t.Errorf("%d is %q, and that is %d, %v", n, name, got, known)
		}
	}
	for _, name := range []string{"", "SIG", "TERM", "sigterm", "SIG0", "SIG15", "SIG65", "SIGRTMIN+0", "SIGRTMIN+01", "SIGRTMIN+31", "SIGRTMIN-1", "SIGRTMAX", "SIG-1"} {
		if n, known := SignalNumber(name); known || n != 0 {
			t.Errorf("%q is %d, %v", name, n, known)
		}
	}
}
