package script

import (
	"runtime"
	"strconv"
)

// ThreadVariables are the environment variables that say how many threads libraries for
// numeric work start. Without them, one for each CPU of the host.
var ThreadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"}

// ThreadEnvironment sets these variables to n.
func ThreadEnvironment(n int) []string {
	set := make([]string, len(ThreadVariables))
	for i, name := range ThreadVariables {
		set[i] = name + "=" + strconv.Itoa(n)
	}
	return set
}

// LibraryThreads returns how many threads such a library starts in a script with these
// limits: one for each CPU that the script may use. With more than the limit on threads
// allows, the library would fail.
func LibraryThreads(cpus, threads int) int { return max(1, min(cpus, threads, runtime.NumCPU())) }
