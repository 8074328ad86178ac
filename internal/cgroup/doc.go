// Package cgroup limits the memory of each worker by the kernel's accounting: the memory
// that it really uses, including tmpfs and page cache, not the reserved address space, so
// that numpy works at 256 MiB. It also bounds the number of processes in a tree.
//
// # Tasks
//
//	f := cgroup.Probe()              // what this host supports, or why not and the remedy
//	pool, err := cgroup.Open(f)      // one parent group per Runner; sweeps what a killed cordon left
//	g, err := pool.Lease(cgroup.Limits{Memory: 256 << 20}) // a clean group, before the worker is needed
//	err = g.Add(pid)                 // before the worker touches memory: charges never move
//	err = g.SetLimit(64 << 20)       // when a request narrows the limit; free if it is the same
//	n, err := g.OOMKills()           // evidence for "memory_limit"; SIGKILL alone is none
//	g.Return()                       // when the worker is dead
//	err = pool.Close()               // leaves nothing behind
//
// For a tree of processes, whose first one is added before it forks:
//
//	g, err := pool.Lease(cgroup.Limits{Memory: 256 << 20, Processes: 64})
//	ok := g.CountsProcesses()        // if false, see f.ProcessReason; only rlimits bound them
//	n, err := g.ForksRefused()       // evidence that the tree reached its limit
//	u, err := g.Usage()              // peak memory, and on v2 CPU time
//
// # Where the groups are
//
// A pool owns one group, cordon-<pid>-<start>-<random>, with its workers' groups w1, w2, …
// inside. On v1 it is below the process's own memory group. On v2 the kernel's "no internal
// processes" rule forbids that: a group with processes cannot limit the memory of its
// children. Moving the processes of the host application is not for a library to do. A
// program may move itself if a service manager has left the group to it alone: Divide, which
// cordon serve calls at its start. Otherwise, on v2 the pool is beside the process's own
// group, if the group above both is writable and delegates the memory controller (systemd's
// Delegate= with DelegateSubgroup=, a container whose start script moves to a subgroup,
// systemd --user), or below the own group if that is the root of the hierarchy, to which the
// rule does not apply. In all other cases Probe returns the reason and a remedy.
//
// On v2, processes are counted in the same groups; the first lease that needs it turns the
// controller on. v1 counts them in a separate hierarchy, so there the pool has a second
// parent of the same name below the process's own pids group, which the first such lease
// creates. Memory limits work without counting, but not the reverse.
//
// # Why groups are reused
//
// A new group for each worker costs 0.13 ms on our 2-core machine, a used one 0.03 ms
// (bench_linux_test.go), and a removed v1 group stays in the kernel as long as one page is
// charged to it. Therefore a group is cleaned and leased again after its worker. A group
// that cannot be cleaned, because a process or memory is left in it, is not leased again:
// the next guest would be charged for that memory.
//
// After a tree, more is left: zombies are counted although the group looks empty, and the
// kernel frees the stacks of dead processes about 20 ms late. The group is not used for that
// time. Counting adds 0.03 ms to a lease and 0.01 ms to an Add; other leases access no
// additional file.
//
// # Why not containerd/cgroups
//
// It adds 10 MB of protobuf and eBPF to the binary, for controllers, systemd units and
// statistics that cordon does not use. Cordon needs only mkdir, rmdir and some small files,
// and would have to implement the important parts (leasing, cleaning, sweeping, not moving
// the host's processes) in any case.
//
// # What this does not stop
//
//   - Memory charged before Add, such as the zygote's shared pages: it belongs to the
//     zygote's group until the worker writes to it.
//   - A host that runs out of memory. The kernel may then kill any process, and OOMKills
//     counts that too.
//   - Processes that do not end. This package kills no process: the caller ends its trees. A
//     group that still has a process is not leased again, and Sweep removes the group of a
//     killed cordon once it is empty.
//   - A manager that removes the memory controller from the parent while a guest runs.
//     systemd does not, as long as it accounts for the memory of cordon's unit, which is its
//     default. If it happens, the next Lease or SetLimit fails.
//   - A process that forks before Add: its children are in another group.
//   - A group above that reaches its limit. v1, and v2 before 6.11, count its refusals as
//     the tree's.
//   - CPU time, and numbers of processes without a limit in the lease: seccomp, rlimits and
//     the Runner's clock bound them.
package cgroup
