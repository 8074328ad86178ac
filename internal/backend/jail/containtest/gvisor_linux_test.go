package containtest

import (
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// gvisor is the suite of the tier `gvisor`. No policy can name it as a jail.
const gvisor policy.JailBackend = "gvisor"

// Why an attempt ends in another way on gVisor.
const (
	otherError = "gVisor refuses it, with an error of its own"
	emulated   = "gVisor has it, for the processes of the guest alone"
	ownFiles   = "the file is gVisor's own, or the host refuses to write it"
	ownInit    = "the init is a process of the guest"
	noForeign  = "gVisor has one ABI, and refuses the others without killing"
	unreported = "gVisor reports no denials"
)

// ofItsKernel are the attempts that end in another way on gVisor, where they reach only a kernel
// of their own. The host and its canaries are checked as for all attempts.
var ofItsKernel = map[string]string{
	"sockets/netfilter option":                      otherError,
	"sockets/socket: Bluetooth":                     otherError,
	"sockets/socket: CAN":                           otherError,
	"sockets/socket: IPsec":                         otherError,
	"sockets/socket: KCM":                           otherError,
	"sockets/socket: L2TP":                          otherError,
	"sockets/socket: RDS":                           otherError,
	"sockets/socket: SCTP":                          otherError,
	"sockets/socket: SMC":                           otherError,
	"sockets/socket: TIPC":                          otherError,
	"sockets/socket: UDP-Lite":                      otherError,
	"sockets/socket: XDP":                           otherError,
	"sockets/socket: algorithms":                    otherError,
	"sockets/socket: audit":                         otherError,
	"sockets/socket: connector":                     otherError,
	"sockets/socket: generic netlink":               otherError,
	"sockets/socket: hypervisor":                    otherError,
	"sockets/socket: hypervisor in 64 bits":         otherError,
	"sockets/socket: keys":                          otherError,
	"sockets/socket: multipath TCP":                 otherError,
	"sockets/socket: netfilter":                     otherError,
	"sockets/socket: routers":                       otherError,
	"sockets/socket: socket diagnosis":              otherError,
	"sockets/socket filter program":                 otherError,
	"sockets/socketpair of AF_INET":                 otherError,
	"system calls/32-bit personality":               otherError,
	"system calls/clone3":                           otherError,
	"system calls/disable CPU mitigations":          otherError,
	"system calls/enter a namespace":                otherError,
	"system calls/io_setup":                         otherError,
	"system calls/memfd with huge pages":            otherError,
	"system calls/open_by_handle_at":                otherError,
	"system calls/open_tree":                        otherError,
	"system calls/perf_event_open":                  otherError,
	"system calls/personality with executable data": otherError,
	"system calls/personality with high bits":       otherError,
	"system calls/pidfd_getfd":                      otherError,
	"system calls/real-time class":                  otherError,
	"system calls/seccomp listener":                 otherError,
	"system calls/unshare the user namespace":       otherError,
	"system calls/unshare with high bits":           otherError,
	"terminal/line discipline":                      otherError,
	"terminal/select and paste":                     otherError,
	"terminal/type into it":                         otherError,
	"terminal/type into it with high bits":          otherError,

	"ipc/POSIX queue of its own":                         emulated,
	"processes/clone with CLONE_PARENT":                  emulated,
	"rlimits/queued signals":                             emulated,
	"sockets/socket: events of devices":                  emulated,
	"sockets/socket: ping":                               emulated,
	"system calls/clear no_new_privs":                    emulated,
	"system calls/clone a user namespace":                emulated,
	"system calls/clone a user namespace with high bits": emulated,
	"system calls/clone all namespaces":                  emulated,
	"system calls/keyctl":                                emulated,
	"system calls/process_vm_writev":                     emulated,
	"system calls/ptrace itself":                         emulated,
	"system calls/raise its priority":                    emulated,
	"system calls/syslog":                                emulated,
	"system calls/traced child":                          emulated,
	"system calls/unshare from a shell":                  emulated,
	"system calls/unshare with an unknown flag":          emulated,

	"cgroup/list the cgroup tree":                  ownFiles,
	"devices/device in the workspace":              ownFiles,
	"files/writable mounts":                        ownFiles,
	"system/directories at the root":               ownFiles,
	"system/kernel command line and configuration": ownFiles,
	"system/kernel settings in /sys":               ownFiles,
	"system/mounts of the host":                    ownFiles,
	"system/partitions and devices":                ownFiles,
	"system/unlisted files in /proc":               ownFiles,

	"init/all signals":             ownInit,
	"init/change limits":           ownInit,
	"init/raise its oom_score_adj": ownInit,
	"init/read /proc/PID/auxv":     ownInit,
	"init/read /proc/PID/environ":  ownInit,
	"init/read /proc/PID/fd/":      ownInit,
	"init/read /proc/PID/io":       ownInit,
	"init/read /proc/PID/maps":     ownInit,
	"init/read /proc/PID/ns/mnt":   ownInit,
	"init/read /proc/PID/root/":    ownInit,

	"foreign ABI/reported":    noForeign,
	"foreign ABI/x32: getpid": noForeign,
	"foreign ABI/x32: ptrace": noForeign,

	"system calls/hammer": unreported,
}

func runsc(t *testing.T) *hostpath.Program {
	t.Helper()
	program, err := hostpath.ProgramAt(hosttest.NeedsExtra(t, hosttest.Runsc))
	if err != nil {
		t.Fatal(err)
	}
	return &program
}

// TestContainmentOnGVisor makes all attempts on gVisor.
func TestContainmentOnGVisor(t *testing.T) {
	hosttest.Slow(t, "scripts on gVisor make attempts with each user")
	runsc(t)
	t.Setenv("CORDON_TEST_JAIL", string(gvisor))
	eachBackend(t, containmentOf)
}

// gvisorEnds are the limits that gVisor enforces by an error to the command alone, so that the
// Result has the command's own end.
var gvisorEnds = map[string]run.Outcome{
	"processes: threads":        run.Exited,
	"processes: counted":        run.Exited,
	"processes: fork bomb":      run.Exited,
	"scratch: full":             run.Exited,
	"scratch: in shared memory": run.Exited,
	"scratch: too many files":   run.Succeeded, // the sandbox's memory bounds their number
	"disk: without a name":      run.Exited,    // gVisor does not make such files in a workspace
}

// TestLifeOnGVisor checks that sandboxes on gVisor end and leave nothing, and keep their limits.
func TestLifeOnGVisor(t *testing.T) {
	hosttest.NotUnderRace(t, "it tests walls, which the detector does not see")
	runsc(t)
	t.Setenv("CORDON_TEST_JAIL", string(gvisor))
	t.Run("killed Runner", TestContainKilledRunner)
	t.Run("close while running", TestContainCloseWhileRunning)
	t.Run("canceled at any moment", TestContainCanceledAtAnyMoment)
	t.Run("limits", TestContainLimits)
	t.Run("workspace exchanged", TestContainWorkspaceExchanged)
	t.Run("grant redirected", TestContainGrantRedirected)
	t.Run("neighbors", TestContainNeighbors)
}
