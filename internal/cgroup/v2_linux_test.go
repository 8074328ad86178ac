package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fakeV2 returns a node of plain files, for hosts whose controllers are on v1.
func fakeV2(t *testing.T, files map[string]string) *node {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := &node{dir: dir, version: 2, procs: -1, max: -1, usageFD: -1, eventsFD: -1, joinFD: -1}
	t.Cleanup(n.closeFiles)
	return n
}

func content(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func put(t *testing.T, n *node, name, content string) {
	t.Helper()
	if err := os.WriteFile(n.path(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestV2TreeIsInTheSameDirectory(t *testing.T) {
	n := fakeV2(t, map[string]string{
		"pids.max": "max\n", "pids.current": "0\n", "pids.events": "max 7\n",
		"cpu.stat": "usage_usec 1000\nuser_usec 400\nsystem_usec 600\n", "memory.peak": "90\n",
	})
	parent := filepath.Dir(n.dir)
	control := filepath.Join(parent, "cgroup.subtree_control")
	if err := os.WriteFile(control, []byte("memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &counting{features: Features{Version: 2, Parent: parent, ProcessParent: parent}, pool: parent, lock: -1}
	if err := c.grow(n); err != nil {
		t.Fatal(err)
	}
	if got := content(t, control); !strings.HasPrefix(got, "+pids") {
		t.Errorf("the controller was not turned on: %q", got)
	}
	if n.tree.dir != n.dir || n.tree.apart || len(n.dirs()) != 1 || c.end() != nil {
		t.Errorf("%+v, dirs %v, end %v", n.tree, n.dirs(), c.end())
	}

	start, err := n.beginTree(50)
	if err != nil {
		t.Fatal(err)
	}
	g := &Group{pool: &Pool{}, dir: n.dir, node: n, start: start}
	if got := content(t, n.path("pids.max")); !strings.HasPrefix(got, "50") {
		t.Errorf("pids.max has %q", got)
	}
	put(t, n, "pids.events", "max 9\n")
	put(t, n, "cpu.stat", "usage_usec 251000\n")
	put(t, n, "memory.peak", "4096\n")
	if n := forksRefused(t, g); n != 2 {
		t.Errorf("ForksRefused = %d, want 2", n)
	}
	if u, err := g.Usage(); err != nil || u != (Usage{PeakMemory: 4096, CPU: 250 * time.Millisecond}) {
		t.Errorf("Usage = %+v, %v", u, err)
	}
	// The next lease is for a worker without a limit.
	put(t, n, "pids.max", "50\n")
	if err := n.tree.lift(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, n.path("pids.max")); got != "max" {
		t.Errorf("pids.max has %q", got)
	}
	put(t, n, "pids.current", "1\n")
	if n.tree.vacant() {
		t.Error("vacant with a task in it")
	}
}

func TestV2ControllerIsTurnedOnOnce(t *testing.T) {
	dir := t.TempDir()
	control := filepath.Join(dir, "cgroup.subtree_control")
	if err := os.WriteFile(control, []byte("memory pids\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &counting{features: Features{Version: 2, Parent: dir, ProcessParent: dir}, pool: dir, lock: -1}
	if got, err := c.begin(); got != dir || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := content(t, control); got != "memory pids\n" {
		t.Errorf("it was written: %q", got)
	}
	c.end()
	if _, err := c.begin(); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// Before 6.12 the peak is that of all leases. If it has risen, it is this lease's.
func TestPeakThatCannotBeReset(t *testing.T) {
	n := fakeV2(t, map[string]string{"memory.peak": "5000\n"})
	fd, err := open(n.path("memory.peak"), unix.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	n.tree = &tree{peak: fd}
	start, err := n.beginTree(50)
	if err != nil {
		t.Fatal(err)
	}
	g := &Group{dir: n.dir, node: n, start: start}
	if u, err := g.Usage(); err != nil || u != (Usage{}) {
		t.Errorf("the last lease's: %+v, %v", u, err)
	}
	put(t, n, "memory.peak", "6000\n")
	if u, err := g.Usage(); err != nil || u != (Usage{PeakMemory: 6000}) {
		t.Errorf("its own: %+v, %v", u, err)
	}
}

// Leases work on old and small kernels that lack some files.
func TestLeaseWorksWithoutOptionalFiles(t *testing.T) {
	n := fakeV2(t, map[string]string{"pids.max": "max\n"})
	n.tree = &tree{dir: n.dir}
	n.tree.openPeak(n)
	start, err := n.beginTree(50)
	if err != nil {
		t.Fatal(err)
	}
	g := &Group{dir: n.dir, node: n, start: start}
	if _, err := g.ForksRefused(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("ForksRefused: %v", err)
	}
	if u, err := g.Usage(); err != nil || u != (Usage{}) {
		t.Errorf("Usage: %+v, %v", u, err)
	}
}

// cpu.stat needs no controller: any v2 hierarchy will do.
func TestRealV2CPU(t *testing.T) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var dir string
	for _, m := range parseMounts(string(mountinfo)) {
		if m.fstype == "cgroup2" && unix.Access(m.point, unix.W_OK) == nil {
			if dir, err = os.MkdirTemp(m.point, "test-cgroup-"); err == nil {
				break
			}
		}
	}
	if dir == "" {
		t.Skip("no v2 hierarchy to write to")
	}
	t.Cleanup(func() {
		if err := remove(dir); err != nil {
			t.Error(err)
		}
	})
	if unix.Access(dir+"/cpu.stat", unix.F_OK) != nil {
		t.Skip("cpu.stat is there without a controller since 4.15")
	}
	n := &node{dir: dir, version: 2, tree: &tree{peak: -1}}
	start, err := n.beginTree(50)
	if err != nil {
		t.Fatal(err)
	}
	g := &Group{dir: dir, node: n, start: start}
	c := startChild(t)
	if err := write(dir+"/cgroup.procs", fmt.Sprint(c.pid())); err != nil {
		t.Fatal(err)
	}
	c.must("touch", 8*mib)
	if u, err := g.Usage(); err != nil || u.CPU <= 0 || u.CPU > time.Minute {
		t.Errorf("Usage = %+v, %v", u, err)
	}
}

// A page that ends inside a number must not give a wrong pid.
func TestPidsOfManyProcesses(t *testing.T) {
	dir := t.TempDir()
	var list strings.Builder
	for pid := 1000001; list.Len() < 5000; pid++ {
		fmt.Fprintln(&list, pid)
	}
	if err := os.WriteFile(dir+"/cgroup.procs", []byte("77\n"+list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := pids(dir)
	if err != nil || len(all) < 500 || all[0] != 77 {
		t.Fatalf("%d pids, %v", len(all), err)
	}
	for _, pid := range all[1:] {
		if pid < 1000001 {
			t.Errorf("process %d is not in the list", pid)
		}
	}
}
