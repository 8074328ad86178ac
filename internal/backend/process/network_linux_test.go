package process_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// server listens on an address that no client treats as its own.
func server(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s", r.URL.Path)
	}))
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return listener.Addr().String()
}

// A script reaches what the policy grants with an ordinary client, and nothing else by
// any means.
func TestScriptsReachOnlyGrantedHosts(t *testing.T) {
	granted, other := server(t), server(t)
	r, err := cordon.NewRunner(cordon.Options{Policy: policy.Policy{AllowNet: []string{granted}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fetch := "import urllib.request\nresult = urllib.request.urlopen('http://%s/x').read().decode()"
	direct := "import socket\ns = socket.create_connection(('%s', %s), 5)\ns.sendall(b'GET /x HTTP/1.0\\r\\n\\r\\n')\nresult = s.recv(100).decode()"
	host, port, err := net.SplitHostPort(granted)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, script, result, violation string
	}{
		{"granted", fmt.Sprintf(fetch, granted), `"hello from /x"`, ""},
		{"not granted", fmt.Sprintf(fetch, other), "", "egress connect " + other},
		{"not through the proxy", fmt.Sprintf(direct, host, port), "", "egress connect " + granted},
		{"datagrams", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "", "seccomp socket AF_INET"},
		{"local sockets", "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", "", "seccomp socket AF_UNIX"},
		{"servers", "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))", "", "seccomp bind"},
		{"in threads", fmt.Sprintf("import urllib.request\nfrom concurrent.futures import ThreadPoolExecutor as E\nresult = len(set(E(8).map(lambda i: urllib.request.urlopen('http://%s/%%d' %% i).read(), range(40))))", granted), "40", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: test.script}})
			if err != nil {
				t.Fatal(err)
			}
			var seen []string
			for _, v := range res.Violations {
				seen = append(seen, fmt.Sprintf("%s %s %s", v.Wall, v.Op, v.Detail))
			}
			if test.violation == "" {
				if string(res.Value) != test.result || len(seen) > 0 || len(res.Traffic) != 1 || res.Traffic[0].Received == 0 {
					t.Errorf("%s %s %s: %s, traffic %+v", res.Outcome, res.Error, res.Value, seen, res.Traffic)
				}
				return
			}
			if res.OK() || !strings.HasPrefix(strings.Join(seen, "\n"), test.violation) {
				t.Errorf("%s %s: %q, want %q", res.Outcome, res.Value, seen, test.violation)
			}
		})
	}
}

// Hooks do not get the hosts that are granted to scripts, and their results say so.
func TestHooksHaveNoNetwork(t *testing.T) {
	r, err := cordon.NewRunner(cordon.Options{Policy: policy.Policy{AllowNet: []string{"192.0.2.1:80"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	script, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "result = 1"}})
	if err != nil || script.Enforcement.Walls[policy.WallEgress].String() != "enforced (by a proxy to 192.0.2.1:80)" {
		t.Errorf("a script: %q, %v", script.Enforcement.Walls[policy.WallEgress], err)
	}
	h, err := r.OpenHook(t.Context(), run.HookSpec{Script: "result['output'] = 1"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	called, err := h.Call(t.Context(), nil, nil)
	if err != nil || called.Enforcement.Walls[policy.WallEgress].String() != "enforced (nothing can be reached)" {
		t.Errorf("a hook: %q, %v", called.Enforcement.Walls[policy.WallEgress], err)
	}
}

// A guest that reaches its limit of sockets gets an error, which is not a violation.
func TestScriptsRunOutOfSockets(t *testing.T) {
	r, err := cordon.NewRunner(cordon.Options{Policy: policy.Policy{AllowNet: []string{"192.0.2.1:80"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: `
import errno, socket
all = []
try:
    while True:
        all.append(socket.socket())
except OSError as e:
    result = errno.errorcode[e.errno]
`}})
	if err != nil || string(res.Value) != `"EMFILE"` || len(res.Violations) > 0 {
		t.Errorf("%s %s %s, %+v, %v", res.Outcome, res.Value, res.Error, res.Violations, err)
	}
}

// Without a grant no socket can be made.
func TestScriptsWithoutGrants(t *testing.T) {
	r, err := cordon.NewRunner(cordon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "import os, socket\nresult = [k for k in os.environ if 'proxy' in k.lower()]\nsocket.socket()"}})
	if err != nil {
		t.Fatal(err)
	}
	if res.OK() || len(res.Violations) != 1 || res.Violations[0].Op != "socket" {
		t.Errorf("%s: %+v", res.Outcome, res.Violations)
	}
}
