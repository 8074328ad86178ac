package cgroup

import (
	"os"
	"testing"
)

// leaseKinds are a worker that cannot fork, and a tree of processes.
var leaseKinds = map[string]int{"memory": 0, "processes": 50}

// BenchmarkLease measures a lease of a reused group.
func BenchmarkLease(b *testing.B) {
	for name, processes := range leaseKinds {
		b.Run(name, func(b *testing.B) {
			p := openTrees(b)
			for b.Loop() {
				leaseTree(b, p, 64*mib, processes).Return()
			}
		})
	}
}

// BenchmarkFreshGroup measures a lease of a new group.
func BenchmarkFreshGroup(b *testing.B) {
	for name, processes := range leaseKinds {
		b.Run(name, func(b *testing.B) {
			p := openTrees(b)
			for b.Loop() {
				g := leaseTree(b, p, 64*mib, processes)
				g.node.spoiled = true
				g.Return()
			}
		})
	}
}

// BenchmarkAdd moves a process back and forth, two moves in each round.
func BenchmarkAdd(b *testing.B) {
	for name, processes := range leaseKinds {
		b.Run(name, func(b *testing.B) {
			p := openTrees(b)
			one, two := leaseTree(b, p, 64*mib, processes), leaseTree(b, p, 64*mib, processes)
			guest, end := startGuest(b)
			for b.Loop() {
				for _, g := range []*Group{one, two} {
					if err := g.Add(guest); err != nil {
						b.Fatal(err)
					}
				}
			}
			end()
		})
	}
}

// startGuest starts a process that does nothing.
func startGuest(b *testing.B) (pid int, end func()) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	guest, err := os.StartProcess("/proc/self/exe", []string{"test", childArg}, &os.ProcAttr{Files: []*os.File{r, nil, nil}})
	if err != nil {
		b.Fatal(err)
	}
	return guest.Pid, func() {
		w.Close()
		r.Close()
		if _, err := guest.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWholeLease measures everything around a guest: Lease, Add, the counters and
// Return. The process is moved back in between.
func BenchmarkWholeLease(b *testing.B) {
	for name, processes := range leaseKinds {
		b.Run(name, func(b *testing.B) {
			p := openTrees(b)
			home := leaseTree(b, p, 64*mib, 50)
			guest, end := startGuest(b)
			for b.Loop() {
				g := leaseTree(b, p, 64*mib, processes)
				if err := g.Add(guest); err != nil {
					b.Fatal(err)
				}
				kills(b, g)
				if processes > 0 {
					forksRefused(b, g)
					if _, err := g.Usage(); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				if err := home.Add(guest); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				g.Return()
			}
			end()
		})
	}
}

// BenchmarkOpen measures Open, which sweeps one or two hierarchies.
func BenchmarkOpen(b *testing.B) {
	for name, f := range map[string]Features{"memory": testParent(b), "processes": testParents(b)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := Open(f)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		if f := Probe(); !f.Usable() {
			b.Fatal(f.Reason)
		}
	}
}

func BenchmarkSetLimit(b *testing.B) {
	for name, other := range map[string]int64{"same": 64 * mib, "changed": 32 * mib} {
		b.Run(name, func(b *testing.B) {
			g := lease(b, openPool(b), 64*mib)
			for i := 0; b.Loop(); i++ {
				limit := int64(64 * mib)
				if i%2 == 1 {
					limit = other
				}
				if err := g.SetLimit(limit); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
