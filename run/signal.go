package run

import "strconv"

// signals are Linux's, on every architecture that guests run on: a Result is
// read on other systems too, which count differently.
var signals = [...]string{
	1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

const (
	firstRealTime = 34 // as C libraries count: they keep 32 and 33 for themselves
	lastSignal    = 64
)

// SignalName gives the name that a Result has for a signal of Linux: SIGTERM,
// SIGRTMIN, SIGRTMIN+1, or SIG32 for what has no name. It is never empty: an
// empty name says that there was no signal.
func SignalName(number int) string {
	switch {
	case number >= 1 && number < len(signals):
		return signals[number]
	case number == firstRealTime:
		return "SIGRTMIN"
	case number > firstRealTime && number <= lastSignal:
		return "SIGRTMIN+" + strconv.Itoa(number-firstRealTime)
	default:
		return "SIG" + strconv.Itoa(number)
	}
}

// SignalNumber gives the number to a name from SignalName, and false for what is
// no signal.
func SignalNumber(name string) (number int, known bool) {
	for number := 1; number <= lastSignal; number++ {
		if SignalName(number) == name {
			return number, true
		}
	}
	return 0, false
}
