package run

import "strconv"

// signals are the names of Linux's signals, which have the same numbers on every
// supported architecture. The standard library's names are not used, because other
// systems, where a Result may be read, have other numbers.
var signals = [...]string{
	1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

const (
	firstRealTime = 34 // C libraries reserve 32 and 33
	lastSignal    = 64
)

// SignalName returns the name of a signal of Linux as it is in a Result: SIGTERM,
// SIGRTMIN, SIGRTMIN+1, or SIG32 for a signal without a name. It is never empty,
// because an empty name means that there was no signal.
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

// SignalNumber returns the number for a name from SignalName, and false if the name is
// not one.
func SignalNumber(name string) (number int, known bool) {
	for number := 1; number <= lastSignal; number++ {
		if SignalName(number) == name {
			return number, true
		}
	}
	return 0, false
}
