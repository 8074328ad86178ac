package toolstest

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// BenchmarkToolsDownload measures the cost of the proxy: the same client fetches the same
// gigabyte over the host's loopback, and in a jail through the proxy. A grant by address opens
// the host's loopback, so no second host is needed.
//
//	go test ./internal/backend/jail -run '^$' -bench ToolsDownload -benchtime 3x
func BenchmarkToolsDownload(b *testing.B) {
	hosttest.Needs(b, "curl")
	const size = 1 << 30
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		sendZeros(w, size)
	})}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	b.Cleanup(func() { server.Close() })
	address := listener.Addr().String()
	url := "http://" + address + "/"
	goEnv := map[string]string{fetchVariable: url, sizeVariable: strconv.Itoa(size)}

	b.Run("host/curl", func(b *testing.B) {
		onHost(b, size, nil, "curl", "-sS", "-o", "/dev/null", "--noproxy", "*", url)
	})
	b.Run("host/go", func(b *testing.B) {
		onHost(b, size, goEnv, "/proc/self/exe")
	})
	for _, jail := range jails() {
		if jail == policy.JailBwrap && hosttest.FindProgram("bwrap") == "" {
			continue
		}
		p := commandPolicy(b, jail)
		p.AllowNet = []string{address}
		p.AllowInterpreters = true
		b.Run(string(jail)+"/curl", func(b *testing.B) {
			inJail(b, p, size, run.Request{Command: run.Command{Args: []string{"curl", "-sS", "-o", "/dev/null", "--noproxy", "", url}}})
		})
		// In a tunnel the bytes go from socket to socket inside the kernel.
		b.Run(string(jail)+"/curl-tunnel", func(b *testing.B) {
			inJail(b, p, size, run.Request{Command: run.Command{Args: []string{"curl", "-sS", "-o", "/dev/null", "--noproxy", "", "--proxytunnel", url}}})
		})
		b.Run(string(jail)+"/go", func(b *testing.B) {
			// Go never uses a proxy for 127.0.0.1, whatever no_proxy says.
			env := map[string]string{clientProxyVariable: "http://127.0.0.1:3128"}
			for name, value := range goEnv {
				env[name] = value
			}
			inJail(b, p, size, run.Request{Command: run.Command{Args: []string{"./client"}, Env: env}})
		})
	}
}

func onHost(b *testing.B, size int64, env map[string]string, command ...string) {
	b.Helper()
	b.SetBytes(size)
	for b.Loop() {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

func inJail(b *testing.B, p policy.Policy, size int64, req run.Request) {
	b.Helper()
	w := openWorkshop(b, p)
	w.bringClient()
	b.SetBytes(size)
	for b.Loop() {
		r := w.request(req)
		mustSucceed(b, strings.Join(req.Command.Args, " "), r)
		if len(r.Traffic) != 1 || int64(r.Traffic[0].Received) < size {
			b.Fatalf("the traffic is %+v", r.Traffic)
		}
	}
}
