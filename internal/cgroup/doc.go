// Package cgroup limits the memory of each worker by the kernel's own
// accounting: what the worker really uses, tmpfs and page cache included, and
// not the address space it has reserved, so that numpy works at 256 MiB. Of a
// whole tree of processes it also bounds the number.
//
// # Tasks
//
//	f := cgroup.Probe()              // what this host gives, and if nothing, why and what would help
//	pool, err := cgroup.Open(f)      // one parent group per Runner; sweeps what a killed cordon left
//	g, err := pool.Lease(cgroup.Limits{Memory: 256 << 20}) // a clean group, before the worker is needed
//	err = g.Add(pid)                 // before the worker touches memory: charges never move
//	err = g.SetLimit(64 << 20)       // when a request narrows the limit; free when it does not
//	n, err := g.OOMKills()           // evidence for "memory_limit", where SIGKILL alone is none
//	g.Return()                       // when the worker is dead
//	err = pool.Close()               // leaves nothing behind
//
// For a tree of processes, whose first one is added before it forks:
//
//	g, err := pool.Lease(cgroup.Limits{Memory: 256 << 20, Processes: 64})
//	ok := g.CountsProcesses()        // false where f.ProcessReason says why; rlimits have to do then
//	n, err := g.ForksRefused()       // evidence that the tree was as large as it may be
//	u, err := g.Usage()              // the peak of memory, and on v2 the CPU time
//
// # Where the groups are
//
// A pool owns one group, cordon-<pid>-<start>-<random>, and its workers' groups
// w1, w2, … inside. On v1 it lies below the process's own memory group. On v2
// the kernel's "no internal processes" rule forbids that: a group with
// processes of its own cannot limit the memory of its children. Moving the
// host application's processes out of the way would repair that, but they are
// not ours to move. A program of ours may move itself, where a service manager
// has left the group to it alone: Divide, which cordon serve calls at its start.
// Otherwise on v2 the pool is made beside the process's own group,
// where the group above both may be written and hands out the memory
// controller (systemd's Delegate= with DelegateSubgroup=, a container whose
// start script has gone into a subgroup, systemd --user), or below the own
// group where that is the root of the hierarchy, to which the rule does not
// apply. Everywhere else Probe says what is missing and what would help.
//
// Processes are counted in the same groups on v2, where the controller is
// turned on when the first lease asks for it. On v1 they are counted in a
// hierarchy of its own, so there the pool has a second parent of the same name,
// made by the first such lease, below the process's own pids group. Memory
// without counting works, counting without memory is not offered.
//
// # Why groups are reused
//
// A new group for each worker costs 0.13 ms on our 2-core machine, a used one
// 0.03 ms (bench_linux_test.go), and a removed v1 group lives on in the kernel
// as long as one page is charged to it. A
// group that a worker has left is therefore cleaned and leased again; one that
// cannot be cleaned (a process or memory is left in it) is not, since the next
// guest would pay for the last one's memory.
//
// A tree needs more of it: zombies are counted though the group looks empty,
// and the kernel frees the stacks of the dead some 20 ms late. Its group rests
// for that time. Counting adds 0.03 ms to a lease and 0.01 ms to an Add;
// leases without it do not touch a file more.
//
// # Why not containerd/cgroups
//
// It puts 10 MB of protobuf and eBPF into the binary, for controllers, systemd
// units and statistics that cordon does not use. What cordon needs of memory
// groups is mkdir, rmdir and some small files, and the parts that matter here
// (leasing, cleaning, sweeping, no moving of the host's processes) would be
// ours in any case.
//
// # What this does not stop
//
//   - Memory charged before Add, such as the zygote's shared pages: it belongs
//     to the zygote's group until the worker writes to it.
//   - A host that runs out of memory as a whole. The kernel then kills any process,
//     and OOMKills counts that too.
//   - Processes that should be dead and are not. Nobody is killed here: whoever
//     started a tree ends it. A group that still has a process is not leased
//     again, and Sweep removes that of a killed cordon once they are gone.
//   - A manager that takes the memory controller away from the parent while a
//     guest runs. systemd does not, as long as it accounts for the memory of
//     the unit cordon runs in, which is its default; the next Lease or SetLimit
//     fails when it happened.
//   - A process that forks between being started and Add: what it has forked
//     by then is elsewhere.
//   - A group above that is full. v1, and v2 before 6.11, count its refusals as
//     if they were the tree's own.
//   - CPU time, and numbers of processes where no lease bounds them:
//     seccomp, rlimits and the Runner's clock do that.
package cgroup
