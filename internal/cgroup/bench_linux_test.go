package cgroup

import (
	"os"
	"testing"
)

// BenchmarkLease is what a worker pays for its group, ahead of demand.
func BenchmarkLease(b *testing.B) {
	p := openPool(b)
	for b.Loop() {
		lease(b, p, 64*mib).Return()
	}
}

// BenchmarkFreshGroup is what it would pay if groups were not used again.
func BenchmarkFreshGroup(b *testing.B) {
	p := openPool(b)
	for b.Loop() {
		g := lease(b, p, 64*mib)
		g.node.spoiled = true
		g.Return()
	}
}

// BenchmarkAdd moves a process to and fro, two moves in each round.
func BenchmarkAdd(b *testing.B) {
	p := openPool(b)
	one, two := lease(b, p, 64*mib), lease(b, p, 64*mib)
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	guest, err := os.StartProcess("/proc/self/exe", []string{"test", childArg}, &os.ProcAttr{Files: []*os.File{r, nil, nil}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, g := range []*Group{one, two} {
			if err := g.Add(guest.Pid); err != nil {
				b.Fatal(err)
			}
		}
	}
	w.Close()
	r.Close()
	if _, err := guest.Wait(); err != nil {
		b.Fatal(err)
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
