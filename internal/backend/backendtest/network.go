package backendtest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Serve starts a web server at an address that no client treats as its own.
func Serve(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "hello from %s", r.URL.Path) // the client may be gone
	}))
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return listener.Addr().String()
}

// Network checks that a script reaches what the policy grants with an ordinary client, and
// nothing else by any means.
func Network(t *testing.T, open Open, p policy.Policy) {
	granted, other := Serve(t), Serve(t)
	p.AllowNet = []string{granted}
	p = p.Resolved()
	r := runner{open(t, p), p}
	fetch := "import urllib.request\nresult = urllib.request.urlopen('http://%s/x').read().decode()"
	direct := "import socket\ns = socket.create_connection(('%s', %s), 5)\ns.sendall(b'GET /x HTTP/1.0\\r\\n\\r\\n')\nresult = s.recv(100).decode()"
	host, port, err := net.SplitHostPort(granted)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, script, result string
		violation            string // seen by the proxy, or where violations are observed
	}{
		{"granted", fmt.Sprintf(fetch, granted), `"hello from /x"`, ""},
		{"not granted", fmt.Sprintf(fetch, other), "", "egress connect " + other},
		{"not through the proxy", fmt.Sprintf(direct, host, port), "", "egress connect " + granted},
		{"datagrams", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "", "seccomp socket AF_INET"},
		{"local sockets", "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", "", "seccomp socket AF_UNIX"},
		{"servers", "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))", "", "seccomp bind"},
		{"in threads", fmt.Sprintf("import urllib.request\nfrom concurrent.futures import ThreadPoolExecutor as E\nresult = len(set(E(8).map(lambda i: urllib.request.urlopen('http://%s/%%d' %% i).read(), range(40))))", granted), "40", ""},
		{"without sockets left", "import errno, socket\nall = []\ntry:\n  while True: all.append(socket.socket())\nexcept OSError as e: result = errno.errorcode[e.errno]", `"EMFILE"`, ""},
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
			if wall := res.Enforcement.Walls[policy.WallEgress]; wall.String() != "enforced (by a proxy to "+granted+")" {
				t.Errorf("the wall is %s", wall)
			}
			if test.violation == "" {
				fetched := strings.Contains(test.script, "urlopen")
				if string(res.Value) != test.result || len(seen) > 0 || fetched != (len(res.Traffic) == 1 && res.Traffic[0].Received > 0) {
					t.Errorf("%s %s %s: %s, traffic %+v", res.Outcome, res.Error, res.Value, seen, res.Traffic)
				}
				return
			}
			if res.OK() {
				t.Errorf("%s %s", res.Outcome, res.Value)
			}
			observed := res.Enforcement.ViolationsObserved || strings.Contains(test.script, "urlopen")
			if observed && !strings.HasPrefix(strings.Join(seen, "\n"), test.violation) {
				t.Errorf("%q, want %q", seen, test.violation)
			}
		})
	}
}
