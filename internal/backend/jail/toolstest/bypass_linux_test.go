package toolstest

import (
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// These are ways around the list of hosts, tried from inside with the tools that a model or a
// script would use. Each must end in a violation with host, port and rule; the servers record
// that no connection arrived.

// testCurlBypasses uses curl's parser and resolver, through both kinds of proxy.
func testCurlBypasses(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl")
	const unlisted = ": not in allow_net"
	const byAddress = ": not in allow_net, where an address needs a grant by address"
	w := online(t, n, strictPolicy(p))
	for _, try := range []struct {
		name, options string
		refused       []string // nil if it must work
	}{
		{"another host", `url = "https://evil.test.example/"`, []string{"evil.test.example:443" + unlisted}},
		{"another host, plain", `url = "http://evil.test.example/"`, []string{"evil.test.example:80" + unlisted}},
		{"another port", `url = "https://allowed.test.example:8080/"`, []string{"allowed.test.example:8080: this port is not in allow_net"}},
		{"another port, plain", `url = "http://allowed.test.example:8080/"`, []string{"allowed.test.example:8080: this port"}},
		{"no port of the wildcard", `url = "http://a.cdn.test.example/"`, []string{"a.cdn.test.example:80: this port"}},
		{"allowed as a prefix", `url = "https://allowed.test.example.evil.test.example/"`, []string{"allowed.test.example.evil.test.example:443" + unlisted}},
		{"allowed as a suffix", `url = "https://evilallowed.test.example/"`, []string{"evilallowed.test.example:443" + unlisted}},
		{"below a name", `url = "https://evil.allowed.test.example/"`, []string{"evil.allowed.test.example:443" + unlisted}},
		{"a wildcard's own name", `url = "https://cdn.test.example/"`, []string{"cdn.test.example:443" + unlisted}},
		{"like a wildcard", `url = "https://evilcdn.test.example/"`, []string{"evilcdn.test.example:443" + unlisted}},
		{"a user like a host", `url = "https://allowed.test.example@evil.test.example/"`, []string{"evil.test.example:443" + unlisted}},
		{"a user and a port", `url = "http://allowed.test.example:80@evil.test.example/"`, []string{"evil.test.example:80" + unlisted}},
		{"a backslash", `url = "http://evil.test.example\\@allowed.test.example/"`, nil},
		{"a homograph", `url = "https://all` + "о" + `wed.test.example/"`, []string{"xn--allwed-"}},
		{"full width", `url = "https://evil` + "。" + `test` + "．" + `example/"`, []string{"evil.test.example:443" + unlisted}},
		{"the allowed one's address", `url = "http://93.184.216.34/"`, []string{"93.184.216.34:80" + byAddress}},
		{"an address", `url = "https://93.184.216.66/"`, []string{"93.184.216.66:443" + byAddress}},
		{"IPv6", `url = "http://[2606:2800:220:1::66]/"`, []string{"[2606:2800:220:1::66]:80" + byAddress}},
		{"IPv4 in IPv6", `url = "http://[::ffff:93.184.216.66]/"`, []string{"93.184.216.66:80" + byAddress}},
		{"decimal", `url = "http://1572395074/"`, []string{"93.184.216.66:80" + byAddress}},
		{"octal", `url = "http://0135.0270.0330.0102/"`, []string{"93.184.216.66:80" + byAddress}},
		{"hexadecimal", `url = "http://0x5db8d842/"`, []string{"93.184.216.66:80" + byAddress}},
		{"short", `url = "http://93.12113986/"`, []string{"93.184.216.66:80" + byAddress}},

		{"private", `url = "http://private.inside.test.example/"`, []string{"private.inside.test.example:80: resolves to 10.0.0.5, a private address"}},
		{"private, port", `url = "http://private.inside.test.example:8080/"`, []string{"private.inside.test.example:8080: resolves to 10.0.0.5"}},
		{"private, tunnel", `url = "https://private.inside.test.example/"`, []string{"private.inside.test.example:443: resolves to 10.0.0.5"}},
		{"home", `url = "http://home.inside.test.example/"`, []string{"resolves to 192.168.1.1, a private address"}},
		{"carrier", `url = "http://shared.inside.test.example/"`, []string{"resolves to 100.64.0.1, a carrier's shared address"}},
		{"metadata", `url = "http://metadata.inside.test.example/latest/"`, []string{"resolves to 169.254.169.254, a cloud metadata address"}},
		{"metadata's address", `url = "http://169.254.169.254/latest/"`, []string{"169.254.169.254:80" + byAddress}},
		{"link-local", `url = "http://link.inside.test.example/"`, []string{"resolves to 169.254.1.1, a link-local address"}},
		{"loopback by a name", `url = "http://loop.inside.test.example:9999/"`, []string{"resolves to 127.0.0.1, a loopback address"}},
		{"loopback by a name, IPv6", `url = "http://loop6.inside.test.example:9999/"`, []string{"resolves to ::1, a loopback address"}},
		{"zero by a name", `url = "http://zero.inside.test.example:9999/"`, []string{"resolves to 0.0.0.0, an unspecified address"}},
		{"unique local", `url = "http://unique.inside.test.example/"`, []string{"resolves to fd00::1, a private address"}},
		{"mapped by a name", `url = "http://mapped.inside.test.example/"`, []string{"resolves to 10.0.0.5, a private address"}},
		{"NAT64", `url = "http://nat64.inside.test.example/"`, []string{"resolves to 64:ff9b::a00:5, a private address behind NAT64"}},
		{"the host's own public address", `url = "http://own.inside.test.example/"`, []string{"resolves to " + ownAddress + ", an address of the host itself"}},
		{"one private of two", `url = "http://mixed.inside.test.example/"`, nil},

		{"an address grant", `url = "http://10.0.0.7:8080/"`, nil},
		{"a name to it", `url = "http://granted.test.example:8080/"`, nil},
		{"its other port", `url = "http://10.0.0.7/"`, []string{"10.0.0.7:80: this port is not in allow_net"}},
		{"a name to its other port", `url = "http://granted.test.example/"`, []string{"granted.test.example:80: resolves to 10.0.0.7, a private address"}},
		{"its neighbor", `url = "http://10.0.0.8:8080/"`, []string{"10.0.0.8:8080" + byAddress}},

		{"another server name", "url = \"https://evil.test.example/\"\nconnect-to = \"::allowed.test.example:443\"", []string{"TLS server name evil.test.example does not match allowed.test.example:443"}},
		{"no server name", "url = \"https://93.184.216.66/\"\nconnect-to = \"::allowed.test.example:443\"\ninsecure", []string{"TLS ClientHello for allowed.test.example:443 names no server"}},
		{"another address for the name", "url = \"https://evil.test.example/\"\nresolve = \"evil.test.example:443:93.184.216.34\"", []string{"evil.test.example:443" + unlisted}},
		{"another Host in a tunnel", "url = \"http://allowed.test.example/\"\nproxytunnel\nheader = \"Host: evil.test.example\"", []string{"HTTP host evil.test.example does not match allowed.test.example:80"}},
		{"no Host in a tunnel", "url = \"http://allowed.test.example/\"\nproxytunnel\nhttp1.0\nheader = \"Host:\"", nil},
		{"a tunnel that fits", "url = \"http://allowed.test.example/\"\nproxytunnel", nil},
		{"a redirect", "url = \"http://allowed.test.example/redirect?to=http://evil.test.example/\"\nlocation", []string{"evil.test.example:80" + unlisted}},
		{"a redirect in TLS", "url = \"https://allowed.test.example/redirect?to=https://evil.test.example/\"\nlocation", []string{"evil.test.example:443" + unlisted}},
		{"a redirect inside", "url = \"http://allowed.test.example/redirect?to=http://169.254.169.254/\"\nlocation", []string{"169.254.169.254:80" + byAddress}},

		{"localhost", "url = \"http://localhost:9999/\"\nnoproxy = \"\"", []string{"localhost:9999" + unlisted}},
		{"127.0.0.1", "url = \"http://127.0.0.1:9999/\"\nnoproxy = \"\"", []string{"127.0.0.1:9999" + byAddress}},
		{"127.1", "url = \"http://127.1:9999/\"\nnoproxy = \"\"", []string{"127.0.0.1:9999" + byAddress}},
		{"another loopback", "url = \"http://127.3.2.1:9999/\"", []string{"127.3.2.1:9999" + byAddress}},
		{"::1", "url = \"http://[::1]:9999/\"\nnoproxy = \"\"", []string{"[::1]:9999" + byAddress}},
		{"0.0.0.0", "url = \"http://0.0.0.0:9999/\"", []string{"0.0.0.0:9999" + byAddress}},
		{"::", "url = \"http://[::]:9999/\"", []string{"[::]:9999" + byAddress}},
		{"a zone", "url = \"http://[fe80::1%25lo]:9999/\"", []string{"fe80::1"}},
		{"ftp", `url = "ftp://evil.test.example/x"`, []string{"evil.test.example:21" + unlisted}},
		{"telnet", "url = \"telnet://evil.test.example:443\"", []string{"evil.test.example:443" + unlisted}},

		{"SOCKS", "url = \"https://allowed.test.example/\"\nproxy = \"socks5h://127.0.0.1:3128\"", nil},
		{"SOCKS, another host", "url = \"https://evil.test.example/\"\nproxy = \"socks5h://127.0.0.1:3128\"", []string{"evil.test.example:443" + unlisted}},
		{"SOCKS, an address", "url = \"http://93.184.216.34/\"\nproxy = \"socks5h://127.0.0.1:3128\"", []string{"93.184.216.34:80" + byAddress}},
		{"SOCKS, private", "url = \"http://private.inside.test.example/\"\nproxy = \"socks5h://127.0.0.1:3128\"", []string{"resolves to 10.0.0.5, a private address"}},
		{"SOCKS, loopback", "url = \"http://localhost:9999/\"\nproxy = \"socks5h://127.0.0.1:3128\"\nnoproxy = \"\"", []string{"localhost:9999" + unlisted}},
		{"SOCKS, another server name", "url = \"https://evil.test.example/\"\nconnect-to = \"::allowed.test.example:443\"\nproxy = \"socks5h://127.0.0.1:3128\"", []string{"TLS server name evil.test.example"}},
	} {
		t.Run(try.name, func(t *testing.T) {
			r := w.curl(try.options)
			if try.refused == nil {
				reaches(t, r, "hello from")
			} else {
				refusedBy(t, r, try.refused...)
			}
			n.check(t)
		})
	}

	t.Run("the host's name", func(t *testing.T) {
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		refusedBy(t, w.curl(`url = "http://`+host+`:9999/"`), strings.ToLower(host)+":9999"+unlisted)
	})
	t.Run("a Host header", func(t *testing.T) {
		// The proxy forwards exactly what it checked.
		r := w.curl("url = \"http://allowed.test.example/host-header\"\nheader = \"Host: evil.test.example\"")
		reaches(t, r, "hello from 93.184.216.34 to allowed.test.example")
		if found := n.requests("evil"); len(found) > 0 {
			t.Errorf("a server read %q", found)
		}
	})
	t.Run("the first of two answers", func(t *testing.T) {
		// The name server changes its answer between two queries.
		host := "rebind-" + string(p.Jail) + ".inside.test.example"
		reaches(t, w.curl(`url = "http://`+host+`/"`), "hello from 93.184.216.34")
		refusedBy(t, w.curl(`url = "http://`+host+`:9999/"`), host+":9999: resolves to 127.0.0.1, a loopback address")
	})
	t.Run("one after the other", func(t *testing.T) {
		// On one connection to the proxy, with a message for each.
		r := w.curl("url = \"http://allowed.test.example/\"\nurl = \"http://evil.test.example/\"\nurl = \"http://allowed.test.example/\"\nurl = \"http://evil.test.example/\"")
		if got := strings.Count(r.Stdout, "hello from 93.184.216.34"); got != 2 {
			t.Errorf("%d of 2 answers: %q", got, r.Stdout)
		}
		if len(r.Violations) != 1 || r.Violations[0].Count != 2 || r.Violations[0].Detail != "evil.test.example:80: not in allow_net" {
			t.Errorf("the violations are %+v", r.Violations)
		}
		// The guest can read it, too, and sees that it comes from cordon.
		if !strings.Contains(r.Stdout, "cordon: evil.test.example:80: not in allow_net") {
			t.Errorf("the guest reads %q", r.Stdout)
		}
	})
}

// testConfigured uses hosts in a project's own files. The check before the start does not see
// them; the proxy stops them.
func testConfigured(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "git", "python3")
	w := online(t, n, strictPolicy(p))
	const evil = "evil.test.example:443: not in allow_net"
	w.ok("git", "init", "-q", "repo")
	w.put("repo/.git/config", "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://evil.test.example/git/repo.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")
	refusedBy(t, w.run("git", "-C", "repo", "fetch"), evil)

	w.put("requirements.txt", "--index-url https://evil.test.example/simple/\ntiny==1.0\n")
	refusedBy(t, w.run(append(pip(t), "download", "--retries", "0", "--disable-pip-version-check", "-r", "requirements.txt")...), evil)
	n.check(t)

	t.Run("npm", func(t *testing.T) {
		hosttest.NeedsExtra(t, hosttest.NPM)
		w := online(t, n, strictPolicy(p))
		w.put("package.json", `{"name": "user", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}}`)
		w.put(".npmrc", "registry=https://evil.test.example/npm/\nfetch-retries=0\naudit=false\nupdate-notifier=false\n")
		refusedBy(t, w.run("npm", "install"), evil)
		n.check(t)
	})
}

// testHammering checks that a guest that keeps trying is ended.
func testHammering(t *testing.T, n *internet, p policy.Policy) {
	if testing.Short() {
		return
	}
	hosttest.Needs(t, "python3")
	r := online(t, n, strictPolicy(p)).python(`
import http.client
connection = http.client.HTTPConnection("127.0.0.1", 3128)
while True:
    connection.request("GET", "http://evil.test.example/")
    connection.getresponse().read()
`)
	if r.Outcome != run.Denied || len(r.Violations) != 1 || r.Violations[0].Count < 1000 {
		t.Errorf("%s %s: %+v", r.Outcome, r.Error, r.Violations)
	}
}

// testDirectBypasses connect without the proxy, which is the only way out.
func testDirectBypasses(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl", "python3")
	w := online(t, n, strictPolicy(p))
	for name, options := range map[string]string{
		"without a proxy": "url = \"https://allowed.test.example/\"\nnoproxy = \"*\"",
		"SOCKS4":          "url = \"http://93.184.216.34/\"\nproxy = \"socks4://127.0.0.1:3128\"",
		"SOCKS4a":         "url = \"http://allowed.test.example/\"\nproxy = \"socks4a://127.0.0.1:3128\"",
		"own resolver":    "url = \"http://allowed.test.example/\"\nproxy = \"socks5://127.0.0.1:3128\"",
		"another proxy":   "url = \"http://allowed.test.example/\"\nproxy = \"http://93.184.216.66:80\"",
		"host's loopback": "url = \"http://localhost:9999/\"",
	} {
		t.Run(name, func(t *testing.T) {
			if r := w.curl(options); r.Outcome != run.Exited || strings.Contains(r.Stdout, "hello") {
				t.Errorf("%s %s: %q", r.Outcome, r.Error, r.Stdout)
			}
		})
	}
	t.Run("no variables", func(t *testing.T) {
		needsNamespaces(t, p, "a connection past the proxy is reported")
		r := w.request(run.Request{Command: run.Command{Args: []string{"sh"}}, Stdin: `
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
! curl -sS https://allowed.test.example/
! curl -sS http://93.184.216.34/
`})
		if !r.OK() || strings.Contains(r.Stdout, "hello") || len(r.Violations) > 0 {
			t.Errorf("%s %q %+v", r.Error, r.Stdout, r.Violations)
		}
	})
	t.Run("sockets", func(t *testing.T) {
		needsNamespaces(t, p, "a connection past the proxy is reported")
		r := w.python(`
import errno, socket
def attempt(what, family, kind, act):
    with socket.socket(family, kind) as s:
        s.settimeout(5)
        try:
            act(s)
        except OSError as e:
            print(what, errno.errorcode.get(e.errno, e))
        else:
            print(what, "WORKS")
for address in ("93.184.216.34", "93.184.216.66", "10.0.0.5", "169.254.169.254", "127.0.0.1"):
    port = 9999 if address == "127.0.0.1" else 80
    attempt("tcp " + address, socket.AF_INET, socket.SOCK_STREAM, lambda s: s.connect((address, port)))
for address in ("2606:2800:220:1::66", "fd00::1", "::1"):
    attempt("tcp6 " + address, socket.AF_INET6, socket.SOCK_STREAM, lambda s: s.connect((address, 9999)))
for address in ("93.184.216.66", "8.8.8.8", "255.255.255.255", "224.0.0.251"):
    attempt("udp " + address, socket.AF_INET, socket.SOCK_DGRAM, lambda s: s.sendto(b"query", (address, 53)))
def ask(s):
    s.connect(("127.0.0.1", 53))
    s.send(b"query")
    s.recv(10)
attempt("dns", socket.AF_INET, socket.SOCK_DGRAM, ask)
`)
		if !r.OK() || strings.Contains(r.Stdout, "WORKS") || strings.Count(r.Stdout, "\n") != 13 {
			t.Errorf("%s: %s%s", r.Outcome, r.Stdout, r.Stderr)
		}
		for line := range strings.Lines(r.Stdout) {
			if own := strings.Contains(line, "127.0.0.1") || strings.Contains(line, "::1 ") && !strings.Contains(line, "fd00") || strings.HasPrefix(line, "dns"); own {
				if !strings.Contains(line, "ECONNREFUSED") {
					t.Errorf("another server answers on the command's loopback: %s", line)
				}
			} else if !strings.Contains(line, "ENETUNREACH") && !strings.Contains(line, "EACCES") {
				t.Errorf("a direct connection works: %s", line)
			}
		}
		if len(r.Violations) > 0 {
			t.Errorf("an unreachable network is reported as a violation: %+v", r.Violations)
		}
	})
	t.Run("raw", func(t *testing.T) {
		r := w.python(`
import socket
for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_VSOCK, socket.SOCK_STREAM)):
    try:
        socket.socket(family, kind, 1).close()
        print("WORKS", family)
    except OSError:
        pass
`)
		if !r.OK() || strings.Contains(r.Stdout, "WORKS") {
			t.Errorf("%s: %s%s", r.Outcome, r.Stdout, r.Stderr)
		}
	})
	n.check(t)
}
