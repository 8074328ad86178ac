package containtest

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// meetingPoints gives all scenes the same unique names at which their commands could meet.
func meetingPoints(all ...*scene) {
	name, key := "cdn-"+rand.Text(), 1+mathrand.Int32N(1<<30)
	for _, s := range all {
		s.params["name"], s.params["file"], s.params["segment"], s.params["marker"] = "@"+name, "/tmp/"+name, key, name
	}
}

// neighbor creates objects through which commands on one host could communicate, and keeps
// running. It prints the port, which the kernel chooses.
func neighbor(p params) error {
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return broken("%v", err)
	}
	defer port.Close()
	name, err := net.Listen("unix", p.text("name"))
	if err != nil {
		return broken("%v", err)
	}
	defer name.Close()
	if err := os.WriteFile(p.text("file"), []byte("x"), 0o644); err != nil {
		return broken("%v", err)
	}
	defer os.Remove(p.text("file"))
	id, err := unix.SysvShmGet(p.number("segment"), 1, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
	if err != nil {
		return broken("%v", err)
	}
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }()
	fmt.Println("READY", port.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errQuiet
}

func lookForNeighbor(p params) error {
	dials := func(network, address string) error {
		conn, err := net.DialTimeout(network, address, dialTime)
		if err == nil {
			conn.Close()
		}
		return err
	}
	_, file := os.ReadFile(p.text("file"))
	_, segment := unix.SysvShmGet(p.number("segment"), 0, 0)
	process := errors.New("not there")
	if len(processesWithArg(p.text("marker")+"-first")) > 0 {
		process = nil
	}
	all := map[string]error{
		"port": dials("tcp", p.text("port")), "name": dials("unix", p.text("name")), "file": file, "segment": segment, "process": process,
	}
	return meet(all)
}

// meet prints in which ways another command was reached.
func meet(all map[string]error) error {
	met := 0
	for name, err := range all {
		if err == nil {
			fmt.Println("MET", name)
			met++
		}
	}
	fmt.Println("MET in all", met)
	return anyOf(all)
}

// TestContainNeighbors checks that two concurrent commands share only what both are granted.
func TestContainNeighbors(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		suite.needsNamespaces(t, "socket on which a command could listen") // TestContainNeighborsOfOneUser
		in, holder := io.Pipe()
		a, b := suite.scene(t, attempt{}, suite.guarded), suite.scene(t, attempt{}, suite.guarded)
		meetingPoints(a, b)
		request := func(s *scene, act string) run.Request {
			req := s.request
			req.Command.Args, req.Command.Env = s.command(attempt{act: act})
			if act == "neighbor" {
				req.Command.Args = append(req.Command.Args, s.params["marker"].(string)+"-first")
			}
			return req
		}
		first := request(a, "neighbor")
		first.Streams.In = in
		one := start(t.Context(), suite.backend, suite.policy, first)
		b.params["port"] = one.until(t, "READY")
		r, err := runIn(t.Context(), suite.backend, suite.policy, request(b, "look for a neighbor"))
		if err != nil || !strings.Contains(r.Stdout, "HELD") {
			t.Errorf("they have met: %v\n%s", err, show(r))
		}
		_ = holder.Close()
		if e := <-one.result; e.err != nil || !e.result.OK() {
			t.Errorf("%v\n%s", e.err, show(e.result))
		}
		// The next command finds nothing of the previous one either.
		if r, err := runIn(t.Context(), suite.backend, suite.policy, request(b, "look for a neighbor")); err != nil || !strings.Contains(r.Stdout, "HELD") {
			t.Errorf("something is left: %v\n%s", err, show(r))
		}
	})
}

// victim is a command with a secret in its memory, in its workspace and in its private directory.
func victim(p params) error {
	for _, dir := range []string{".", os.Getenv("TMPDIR")} {
		if err := os.WriteFile(filepath.Join(dir, p.text("marker")), []byte(p.text("key")), 0o644); err != nil {
			return broken("%v", err)
		}
	}
	fmt.Println("READY", os.Getpid(), os.Getenv("TMPDIR"))
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
	return errQuiet
}

// attackVictim tries to reach a command of the same user, and its files.
func attackVictim(p params) error {
	process := "/proc/" + itoa(p.pid()) + "/"
	reads := func(name string) error { _, err := os.ReadFile(name); return err }
	lists := func(name string) error { _, err := os.ReadDir(name); return err }
	follows := func(name string) error { _, err := os.Readlink(name); return err }
	all := map[string]error{
		"memory": readMemory(p), "trace": unix.PtraceAttach(p.pid()), "environment": reads(process + "environ"),
		"descriptors": follows(process + "fd/0"), "root": lists(process + "root/"), "directory": lists(process + "cwd/"),
		"priority": unix.Setpriority(unix.PRIO_PROCESS, p.pid(), 7), "signal": unix.Kill(p.pid(), unix.SIGTERM), "stop": unix.Kill(p.pid(), unix.SIGSTOP),
	}
	for _, dir := range []string{p.text("directory of a"), p.text("private of a")} {
		name := filepath.Join(dir, p.text("marker"))
		all["read "+dir], all["list "+dir] = reads(name), lists(dir)
		all["mode "+dir], all["write "+dir] = os.Chmod(name, 0o777), os.WriteFile(name+"2", nil, 0o644)
		all["remove "+dir] = os.Remove(name)
	}
	return meet(all)
}

// TestContainNeighborsOfOneUser checks that a command does not reach another one that runs at
// the same time, also where both have the same user and no namespaces.
func TestContainNeighborsOfOneUser(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		a, b := suite.scene(t, attempt{}, suite.guarded), suite.scene(t, attempt{}, suite.guarded)
		meetingPoints(a, b)
		in, holder := io.Pipe()
		first := a.request
		a.params["key"] = a.secret
		first.Command.Args, first.Command.Env = a.command(attempt{act: "victim"})
		first.Streams.In = in
		one := start(t.Context(), suite.backend, suite.policy, first)
		pid, private, _ := strings.Cut(one.until(t, "READY"), " ")
		b.params["directory of a"], b.params["private of a"] = a.workspace, private
		if private == confine.Scratch {
			b.params["private of a"] = a.directory // both have a directory with that name
		}
		b.setPid(pid)
		if !b.shared() {
			b.setPid(hostPid(t, a.params["marker"].(string))) // the number in its namespace is that of another process here
		}
		attack := b.request
		attack.Command.Args, attack.Command.Env = b.command(attempt{act: "attack a victim"})
		r, err := runIn(t.Context(), suite.backend, suite.policy, attack)
		if err != nil || !strings.Contains(r.Stdout, "MET in all 0") || strings.Contains(r.Stdout, a.secret) {
			t.Errorf("it reached the other: %v\n%s", err, show(r))
		}
		_ = holder.Close()
		if e := <-one.result; e.err != nil || !e.result.OK() {
			t.Errorf("the other did not survive: %v\n%s", e.err, show(e.result))
		}
		if data, err := os.ReadFile(filepath.Join(a.workspace, a.params["marker"].(string))); err != nil || string(data) != a.secret {
			t.Errorf("its file: %q %v", data, err)
		}
	})
}

// hostPid finds the process of an attempt on the host.
func hostPid(t *testing.T, marker string) string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), marker) && strings.Contains(string(data), actVariable) {
			return strings.Split(name, "/")[2]
		}
	}
	t.Fatal("the other command is not there")
	return ""
}

// TestContainNeighborsOfOneUserCanMeet checks that without walls a process reaches another in
// each of these ways.
func TestContainNeighborsOfOneUserCanMeet(t *testing.T) {
	suite := newSuite(t, policy.JailNative)
	a, b := suite.scene(t, attempt{}, suite.bait), suite.scene(t, attempt{}, suite.bait)
	meetingPoints(a, b)
	private := filepath.Join(a.directory, "private")
	if err := os.Mkdir(private, 0o755); err != nil {
		t.Fatal(err)
	}
	a.params["key"] = a.secret
	argv, env := a.command(attempt{act: "victim"})
	first := exec.CommandContext(t.Context(), argv[0])
	first.Dir = a.workspace
	for name, value := range env {
		first.Env = append(first.Env, name+"="+value)
	}
	first.Env = append(first.Env, "TMPDIR="+private)
	if _, err := first.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = first.Process.Kill() // the attack may have ended it
		_ = first.Wait()         // it was killed
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "READY") {
		t.Fatalf("%q %v", line, err)
	}
	b.params["directory of a"], b.params["private of a"] = a.workspace, private
	b.setPid(itoa(first.Process.Pid))
	r := b.runNaked(t, attempt{act: "attack a victim"})
	if !strings.Contains(r.Stdout, "MET in all 19") {
		t.Errorf("it cannot even try\n%s", show(r))
	}
}

// TestContainNeighborsCanMeet checks that without walls two commands can communicate through
// each of these objects.
func TestContainNeighborsCanMeet(t *testing.T) {
	suite := newSuite(t, policy.JailNative)
	s := suite.scene(t, attempt{}, suite.bait)
	meetingPoints(s)
	command := func(act string) *exec.Cmd {
		argv, env := s.command(attempt{act: act})
		cmd := exec.CommandContext(t.Context(), argv[0])
		if act == "neighbor" {
			cmd.Args = append(cmd.Args, s.params["marker"].(string)+"-first")
		}
		cmd.Env = os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		return cmd
	}
	first := command("neighbor")
	in, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	port, ready := strings.CutPrefix(line, "READY ")
	if err != nil || !ready {
		t.Fatalf("%q %v", line, err)
	}
	s.params["port"] = strings.TrimSpace(port)
	text, err := command("look for a neighbor").CombinedOutput()
	if err != nil || !strings.Contains(string(text), "MET in all 5") {
		t.Errorf("%v\n%s", err, text)
	}
	in.Close()
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
}
