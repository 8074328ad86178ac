package cgroup

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// The forks that fail while everything is being killed are not the guest's.
func TestKillIsNoEvidence(t *testing.T) {
	p := openTrees(t)
	orphans(t)
	g := leaseTree(t, p, 64*mib, 100)
	c := startChild(t)
	add(t, g, c)
	c.must("churn")
	if err := g.stopForks(g.node); err != nil { // what Kill does first, where it has to
		t.Fatal(err)
	}
	eventually(t, "a fork is refused", func() bool {
		n, err := g.node.tree.refused()
		return err == nil && n > 0
	})
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	if n := refused(t, g); n != 0 {
		t.Errorf("ForksRefused = %d, want 0", n)
	}
	if err := g.Kill(); err != nil {
		t.Errorf("Kill of nobody: %v", err)
	}
	c.wait()
	g.Return()
	if err := g.Kill(); !errors.Is(err, ErrReturned) {
		t.Errorf("Kill after Return: %v", err)
	}
}

func TestKillWithoutCounting(t *testing.T) {
	g := lease(t, openPool(t), 64*mib)
	c := startChild(t)
	add(t, g, c)
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	if sig := c.wait(); sig != unix.SIGKILL {
		t.Errorf("ended by %v, want SIGKILL", sig)
	}
}
