package toolstest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TestToolsEgress runs in a private internet: see inInternet.
func TestToolsEgress(t *testing.T) {
	if os.Getenv(stageVariable) == "" {
		t.Parallel()
	}
	testEgress(t)
}

// TestToolsEgressOnGVisor is the same on gVisor.
func TestToolsEgressOnGVisor(t *testing.T) {
	hosttest.Slow(t, "the same programs run in the other jails")
	t.Setenv("CORDON_RUNSC", hosttest.NeedsExtra(t, hosttest.Runsc))
	t.Setenv("CORDON_TEST_JAIL", string(gvisor))
	testEgress(t)
}

func testEgress(t *testing.T) {
	t.Helper()
	if !inInternet(t) {
		return
	}
	n := startInternet(t)
	eachJail(t, func(t *testing.T, p policy.Policy) {
		t.Run("kernel", func(t *testing.T) {
			if release := openWorkshop(t, strictPolicy(p)).ok("uname", "-r"); strings.Contains(release, "gvisor") != onGVisor(p) {
				t.Errorf("commands run on %s", release)
			}
		})
		// First the tests that count goroutines, which must run alone.
		t.Run("leaks", func(t *testing.T) { testLeaks(t, n, p) })
		t.Run("together", func(t *testing.T) {
			for _, part := range []struct {
				name string
				test func(*testing.T, *internet, policy.Policy)
			}{
				{"clients", testClients}, {"modes", testModes}, {"traffic", testTraffic}, {"loopback", testLoopback},
				{"curl", testCurlBypasses}, {"raw", testRawBypasses}, {"tls", testTLSBypasses}, {"direct", testDirectBypasses},
				{"configured", testConfigured}, {"hammering", testHammering}, {"many", testMany},
			} {
				t.Run(part.name, func(t *testing.T) {
					t.Parallel()
					part.test(t, n, p)
				})
			}
		})
		n.check(t)
	})
}

// check checks what must always hold, whatever was tried.
func (n *internet) check(t *testing.T) {
	t.Helper()
	if found := n.strangers(); len(found) > 0 {
		t.Errorf("connections arrived at %v: %q", found, n.requests("evil"))
	}
	if found := n.dns.strangers(); len(found) > 0 {
		t.Errorf("somebody asked for the addresses of %v", found)
	}
}

// strictPolicy grants some names, including all those with private addresses, which a name
// must not open.
func strictPolicy(p policy.Policy) policy.Policy {
	p.AllowNet = []string{
		"allowed.test.example", "six.test.example:443", "*.cdn.test.example:443", "xn--bcher-kva.test.example:443",
		"*.inside.test.example:*", "granted.test.example:*", "10.0.0.7:8080",
	}
	return p
}

// online opens a workshop whose programs trust the servers' certificate authority.
func online(t *testing.T, n *internet, p policy.Policy) *workshop {
	t.Helper()
	w := scripts(t, p)
	w.put("ca.pem", n.authority)
	for _, name := range []string{
		"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "npm_config_cafile",
	} {
		w.env[name] = w.path("ca.pem")
	}
	return w
}

// curl runs curl with options on its standard input: hosts in arguments would be checked
// before it starts.
func (w *workshop) curl(options string) run.Result {
	w.t.Helper()
	return w.request(run.Request{Command: run.Command{Args: []string{"curl", "-sS", "--max-time", "20", "-K", "-"}}, Stdin: options})
}

// python runs a script from its standard input, for the same reason.
func (w *workshop) python(script string) run.Result {
	w.t.Helper()
	return w.request(run.Request{Command: run.Command{Args: []string{"python3", "-"}}, Stdin: script})
}

// reaches checks that an allowed server answered.
func reaches(t *testing.T, result run.Result, words string) {
	t.Helper()
	mustSucceed(t, words, result)
	if !strings.Contains(result.Stdout, words) {
		t.Errorf("the answer is %q; want %q", tail(result.Stdout), words)
	}
}

// refusedBy checks that these violations, each with host, port and rule, and no others were
// reported.
func refusedBy(t *testing.T, result run.Result, details ...string) {
	t.Helper()
	if strings.Contains(result.Stdout, "hello from") && len(details) > 0 {
		t.Errorf("a refused server answered: %q", result.Stdout)
	}
	var found []string
	for _, v := range result.Violations {
		found = append(found, v.Detail)
		if v.Wall != policy.WallEgress || v.Op != "connect" || v.Hint == "" || v.Count < 1 || len(v.Allowed) == 0 {
			t.Errorf("a violation is not complete: %+v", v)
		}
	}
	missing := fmt.Sprintf("the violations are %q; want %q; outcome %s, stdout %q, stderr %q", found, details, result.Outcome, tail(result.Stdout), tail(result.Stderr))
	if len(found) != len(details) {
		t.Error(missing)
		return
	}
	for i, detail := range details {
		if !strings.Contains(found[i], detail) {
			t.Error(missing)
			return
		}
	}
}

func testTraffic(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl")
	w := online(t, n, strictPolicy(p))
	w.put("upload", strings.Repeat("x", 300_000))
	r := w.curl(`url = "https://allowed.test.example/big/2000000"
output = "down"
next
url = "http://allowed.test.example/upload"
data-binary = "@upload"
next
url = "https://a.cdn.test.example/"
next
url = "https://evil.test.example/"
`)
	sizes := map[string]run.Traffic{}
	for _, one := range r.Traffic {
		sizes[fmt.Sprintf("%s:%d", one.Host, one.Port)] = one
	}
	if len(sizes) != 3 || len(r.Traffic) != 3 {
		t.Errorf("traffic is %+v", r.Traffic)
	}
	down, up, small := sizes["allowed.test.example:443"], sizes["allowed.test.example:80"], sizes["a.cdn.test.example:443"]
	if down.Connections != 1 || down.Received < 2_000_000 || down.Received > 2_100_000 || down.Sent < 300 || down.Sent > 10_000 {
		t.Errorf("the download is %+v", down)
	}
	if up.Connections != 1 || up.Sent < 300_000 || up.Sent > 310_000 || up.Received == 0 || up.Received > 10_000 {
		t.Errorf("the upload is %+v", up)
	}
	if small.Connections != 1 || small.Received == 0 || small.Received > 20_000 {
		t.Errorf("the small one is %+v", small)
	}
	if got := len(w.get("down")); got != 2_000_000 {
		t.Errorf("%d bytes arrived", got)
	}
}

// testMany opens a hundred connections at once.
func testMany(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl")
	w := online(t, n, strictPolicy(p))
	r := w.curl("url = \"https://allowed.test.example/big/10000?[1-100]\"\noutput = \"part-#1\"\nparallel\nparallel-max = 100\nparallel-immediate\nhttp1.1")
	mustSucceed(t, "curl", r)
	for i := 1; i <= 100; i++ {
		if got := len(w.get(fmt.Sprintf("part-%d", i))); got != 10_000 {
			t.Errorf("part %d has %d bytes", i, got)
		}
	}
	if len(r.Traffic) != 1 || r.Traffic[0].Received < 1_000_000 {
		t.Errorf("the traffic is %+v", r.Traffic)
	}
}

// testLoopback checks that a command reaches its own loopback, by name and by address, with
// and without a proxy.
func testLoopback(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl", "python3")
	needsNamespaces(t, p, "no program can listen on a socket")
	for name, p := range map[string]policy.Policy{"closed": p, "granted": strictPolicy(p)} {
		t.Run(name, func(t *testing.T) {
			w := online(t, n, p)
			r := w.python(`
import http.server, subprocess, threading
server = http.server.ThreadingHTTPServer(("", 8000), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *args: None
threading.Thread(target=server.serve_forever, daemon=True).start()
for host in ("localhost", "127.0.0.1"):
    assert "ca.pem" in subprocess.check_output(["curl", "-sS", f"http://{host}:8000/"], text=True), host
print("served")
`)
			reaches(t, r, "served")
			// In arguments, loopback also means the sandbox's: test suites name their server
			// that way.
			for _, url := range []string{"http://localhost:8000/", "http://127.0.0.1:8000/", "http://[::1]:8000/"} {
				r := w.run("curl", "-sS", url)
				if r.Outcome != run.Exited || r.ExitCode == nil || *r.ExitCode != 7 {
					t.Errorf("%s: %s %s %q; want that curl finds no server", url, r.Outcome, r.Error, r.Stderr)
				}
			}
		})
	}
}
