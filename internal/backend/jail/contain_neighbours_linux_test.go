package jail

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// What a neighbour has, for anybody on the same host to find.
const (
	neighbourPort = "127.0.0.1:47113"
	neighbourName = "@cordon-contain-neighbour"
	neighbourFile = "/tmp/cordon-contain-neighbour"
	neighbourKey  = 0x0c0d0e0f
)

// neighbour puts things where commands on one host could meet, and stays.
func neighbour(t told) error {
	port, err := net.Listen("tcp", neighbourPort)
	if err != nil {
		return broken("%v", err)
	}
	defer port.Close()
	name, err := net.Listen("unix", neighbourName)
	if err != nil {
		return broken("%v", err)
	}
	defer name.Close()
	if err := os.WriteFile(neighbourFile, []byte("x"), 0o644); err != nil {
		return broken("%v", err)
	}
	defer os.Remove(neighbourFile)
	id, err := unix.SysvShmGet(neighbourKey, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		return broken("%v", err)
	}
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }()
	fmt.Println("READY")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errQuiet
}

func lookForNeighbour(t told) error {
	dials := func(network, address string) error {
		conn, err := net.DialTimeout(network, address, dialTime)
		if err == nil {
			conn.Close()
		}
		return err
	}
	_, file := os.ReadFile(neighbourFile)
	_, segment := unix.SysvShmGet(neighbourKey, 0, 0)
	process := errors.New("not there")
	if len(marked(t.text("marker")+"-first")) > 0 {
		process = nil
	}
	all := map[string]error{
		"port": dials("tcp", neighbourPort), "name": dials("unix", neighbourName), "file": file, "segment": segment, "process": process,
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

// Two commands at once have nothing in common but what they are both given.
func TestContainNeighbours(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		in, holder := io.Pipe()
		a, b := suite.scene(t, attempt{}, suite.guarded), suite.scene(t, attempt{}, suite.guarded)
		marker := "cdn-neighbour-" + suite.folder[len(suite.folder)-6:]
		a.told["marker"], b.told["marker"] = marker, marker
		request := func(s *scene, act string) run.Request {
			req := s.request
			req.Command, req.Env = s.command(attempt{act: act})
			if act == "neighbour" {
				req.Command = append(req.Command, marker+"-first")
			}
			return req
		}
		first := request(a, "neighbour")
		first.Streams.In = in
		one := start(t.Context(), suite.backend, suite.policy, first)
		one.until(t, "READY")
		r, err := runIn(t.Context(), suite.backend, suite.policy, request(b, "look for a neighbour"))
		if err != nil || !strings.Contains(r.Stdout, "HELD") {
			t.Errorf("they have met: %v\n%s", err, show(r))
		}
		_ = holder.Close()
		if e := <-one.result; e.err != nil || !e.result.OK() {
			t.Errorf("%v\n%s", e.err, show(e.result))
		}
		// Nor does the next one find anything of the last.
		if r, err := runIn(t.Context(), suite.backend, suite.policy, request(b, "look for a neighbour")); err != nil || !strings.Contains(r.Stdout, "HELD") {
			t.Errorf("something is left: %v\n%s", err, show(r))
		}
	})
}

// Without walls they meet in every place.
func TestContainNeighboursCanMeet(t *testing.T) {
	if underRace {
		t.Skip("walls are tried without the race detector")
	}
	suite := newSuite(t, policy.JailNative)
	s := suite.scene(t, attempt{}, suite.bait)
	const marker = "cdn-neighbour-naked"
	s.told["marker"] = marker
	command := func(act string) *exec.Cmd {
		argv, env := s.command(attempt{act: act})
		cmd := exec.CommandContext(t.Context(), argv[0])
		if act == "neighbour" {
			cmd.Args = append(cmd.Args, marker+"-first")
		}
		cmd.Env = os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		return cmd
	}
	first := command("neighbour")
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
	ready := make([]byte, 64)
	if n, err := out.Read(ready); err != nil || !strings.Contains(string(ready[:n]), "READY") {
		t.Fatalf("%q %v", ready[:n], err)
	}
	text, err := command("look for a neighbour").CombinedOutput()
	if err != nil || !strings.Contains(string(text), "MET in all 5") {
		t.Errorf("%v\n%s", err, text)
	}
	in.Close()
	_ = first.Wait()
}
