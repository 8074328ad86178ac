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
	"strings"
	"testing"

	"golang.org/x/sys/unix"

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
		suite.needsNamespaces(t, "socket on which a command could listen")
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
