package cgroup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// The test binary is its own guest: started with childArg, it executes commands from stdin and
// answers each with a line.
const childArg = "cgroup-test-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		childMain()
		return
	}
	os.Exit(m.Run())
}

func childMain() {
	var kept [][]byte
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, arg, _ := strings.Cut(in.Text(), " ")
		size, _ := strconv.Atoi(arg)
		var answer any = "ok"
		switch verb {
		case "touch": // private memory
			b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				answer = err
				break
			}
			for i := 0; i < size; i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		case "share": // a file in a tmpfs: no address space, no rlimit sees it
			fd, err := unix.MemfdCreate("share", 0)
			if err != nil {
				answer = err
				break
			}
			page := make([]byte, 1<<16)
			for i := 0; i < size && err == nil; i += len(page) {
				_, err = unix.Write(fd, page)
			}
			if err != nil {
				answer = err
			}
		case "own": // a pool, to die with
			f := Features{Version: Probe().Version}
			f.Parent, f.ProcessParent, _ = strings.Cut(arg, " ")
			p, err := Open(f)
			if err != nil {
				answer = err
				break
			}
			limits := Limits{Memory: 64 << 20}
			if f.ProcessParent != "" {
				limits.Processes = 10
			}
			if _, err := p.Lease(limits); err != nil {
				answer = err
				break
			}
			answer = p.Path()
		case "divide":
			if err := divide(arg); err != nil {
				answer = err
			}
		case "unite":
			unite(arg)
		case "fill": // forks until it is refused or has this many, and ends them
			answer = fill(size)
		case "bomb": // forks, and so do its children; never returns
			answer = bomb(arg)
		}
		fmt.Println(answer)
	}
	_ = kept
}

type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	done bool
}

func startChild(t *testing.T) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := &child{t: t, cmd: exec.CommandContext(ctx, "/proc/self/exe", childArg)}
	c.cmd.Stderr = os.Stderr
	// A killed test must not leave a process that forks forever.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	c.ask("hello") // The runtime is started, so that later changes are the command's.
	return c
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// ask sends a command and returns the answer, "" if the child died.
func (c *child) ask(command string, args ...any) string {
	c.t.Helper()
	fmt.Fprintln(c.in, append([]any{command}, args...)...)
	if !c.out.Scan() {
		return ""
	}
	return c.out.Text()
}

func (c *child) must(command string, args ...any) {
	c.t.Helper()
	if got := c.ask(command, args...); got != "ok" {
		c.t.Fatalf("%s %v: %q", command, args, got)
	}
}

// wait reaps the child and returns the signal that ended it.
func (c *child) wait() syscall.Signal {
	if !c.done {
		c.in.Close()
		_ = c.cmd.Wait()
		c.done = true
	}
	return c.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
}

func (c *child) kill() {
	if !c.done {
		_ = c.cmd.Process.Kill()
		c.wait()
	}
}

// requireCgroup skips on hosts that cannot be expected to have a writable group. On others it
// fails, because a skip would hide that nothing was tested.
func requireCgroup(t testing.TB) Features {
	t.Helper()
	f := Probe()
	if f.Usable() {
		return f
	}
	lacks(t, f.Reason, f.Remedy)
	return f
}

// lacks skips or fails for a missing feature: only root can expect groups.
func lacks(t testing.TB, reason, remedy string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("missing: %s (%s)", reason, remedy)
	}
	hosttest.Lacks(t, "missing: %s (%s)", reason, remedy)
}

// testParent creates a parent group for the test, so that pools of other processes do not
// appear in it.
func testParent(t testing.TB) Features {
	t.Helper()
	f := requireCgroup(t)
	dir, err := os.MkdirTemp(f.Parent, "test-cgroup-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeTree(dir); err != nil {
			t.Error(err)
		}
	})
	if f.Version == 2 {
		if err := handOut("memory", f.Parent); err != nil {
			t.Fatal(err)
		}
	}
	f.Parent = dir
	f.ProcessParent, f.ProcessReason = "", "not asked for"
	return f
}

func openPool(t testing.TB) *Pool {
	t.Helper()
	return openIn(t, testParent(t))
}

func openIn(t testing.TB, f Features) *Pool {
	t.Helper()
	p, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func lease(t testing.TB, p *Pool, limit int64) *Group {
	t.Helper()
	return leaseTree(t, p, limit, 0)
}

func leaseTree(t testing.TB, p *Pool, limit int64, processes int) *Group {
	t.Helper()
	g, err := p.Lease(Limits{Memory: limit, Processes: processes})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func add(t testing.TB, g *Group, c *child) {
	t.Helper()
	if err := g.Add(c.pid()); err != nil {
		t.Fatal(err)
	}
}

func kills(t testing.TB, g *Group) int {
	t.Helper()
	n, err := g.OOMKills()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waitFreed waits until the kernel has freed the memory of dead processes.
func waitFreed(t testing.TB, g *Group) {
	t.Helper()
	hosttest.Eventually(t, "memory of the dead is freed", func() bool { return !g.node.charged() })
}

// groupsIn lists the groups in a directory.
func groupsIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
