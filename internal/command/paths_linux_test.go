package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newPathFixture returns a fixture with links to files inside and outside.
func newPathFixture(t *testing.T) *fixture {
	g := newFixture(t)
	g.link("../outside", "ws/out")
	g.link("../outside/secret", "ws/leak")
	g.link(g.outside+"/secret", "ws/absleak")
	g.link("leak", "ws/chain")
	g.link("sub", "ws/in")
	g.link("/usr/bin/env", "ws/tool")
	g.link("sub/deep", "ws/shortcut")
	g.link("loop", "ws/loop")
	g.link("/etc", "ws/etc")
	g.link("../../outside/none", "ws/sub/dangling")
	g.write("ws/src/etc/x", "x", 0o644)
	return g
}

func TestPathsThatAreRefused(t *testing.T) {
	g := newPathFixture(t)
	for _, arg := range []string{
		// absolute
		"/etc/passwd", "/etc", "/etc/", "//etc//passwd", "/./etc/passwd", "/etc/no-such-file", "/root", "/root/.ssh/id_rsa",
		"/home", "/var/run/docker.sock", "/usr/../etc/passwd", "/bin/../../etc/passwd", "/usr/bin/../../etc/shadow",
		"/etc/*", "/etc/pass[w]d", "/proc/1/environ", "/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/self/cwd/x",
		"/proc/self/fd/3/passwd", "/proc/thread-self/root", "/proc/sys/kernel/core_pattern", "/proc/kcore", "/sys/class", "/dev/mem", "/dev/shm/x", "/dev/tty",
		"/dev/fd/3/etc/passwd", "/dev/fd/x", "/dev/fd/-1", "/dev/fd/../../etc/passwd", "/dev/null/../../etc/passwd", "/scratch/../etc/passwd",
		g.outside, g.outside + "/secret", g.ws + "/../outside/secret", g.root,
		// relative
		"..", "../", "../outside", "../outside/secret", "sub/../../outside", "./..", "sub/../..", "none/../../outside", "../../../../../../etc/passwd",
		"sub/deep/../../../outside/secret", "shortcut/../../..", "shortcut/../../x",
		// through links
		"out", "out/", "out/secret", "leak", "absleak", "chain", "etc/passwd", "in/../out/secret", "sub/dangling", "./leak", g.ws + "/leak", g.ws + "/out/secret",
		"in/../../outside",
		// attached to options
		"--file=/etc/passwd", "--file=../outside/secret", "--file=leak", "-I/etc", "-L/root/lib", "-C..", "-C../..", "-f../outside/secret", "-fleak",
		"-xvf/etc/passwd", "-czf../outside/x", "-isystem/etc", "-Wl,-rpath,/etc", "-Wl,-rpath=/etc", "-Wl,-L/etc", "--a=--b=/etc/passwd",
		// prefixes, keys, URLs, lists
		"@/etc/passwd", "@../outside/secret", "@leak", "-d@/etc/passwd", "--data=@/etc/passwd", "f=@/etc/passwd", "f=</etc/passwd", "if=/etc/passwd", "of=/dev/sda",
		"LD_PRELOAD=/root/x.so", "key=value=/etc/passwd", "type=bind,source=/etc,target=/x",
		"file:///etc/passwd", "FILE:///etc/passwd", "FILE:/etc/passwd", "file://localhost/etc/passwd", "file://127.0.0.1/etc/passwd", "file:/etc/passwd", "file:////etc/passwd", "file://///etc/passwd",
		"file:///%65tc/passwd", "file:///usr/%2e%2e/etc/passwd", "file:///etc%2fpasswd", "file:../outside/secret", "--url=file:///etc/passwd", "-ofile:///etc/passwd", "jar:file:/etc/passwd", "git+file:///etc/passwd",
		"unix:///etc/x.sock", "sqlite:////etc/x.db",
		"/usr/lib:/etc", "/etc:/usr/lib", ":/etc/x", "sub/x.jar:/root/y.jar", ".:/root", "data.txt:/etc/passwd", "CLASSPATH=/usr/share/java/a.jar:/etc", "/usr/lib,/etc", "a,/etc/passwd", "--map=/etc:/inside",
		// homes
		"~", "~/", "~/.ssh/id_rsa", "~root", "~root/.ssh", "--git-dir=~/x", "-I~/include", "@~/x", "HOME=~",
	} {
		t.Run(arg, func(t *testing.T) {
			g.t = t
			g.refused(rulePath, []string{"ls", arg}, "argument 1", "not visible inside", "`read:`", "`write:`")
		})
	}
}

func TestPathsThatAreAllowed(t *testing.T) {
	g := newPathFixture(t)
	g.scope.Read = []string{filepath.Join(g.root, "granted")}
	g.write("granted/file", "x", 0o644)
	g.link("../granted/file", "ws/togranted")
	for _, arg := range []string{
		// really inside
		"", ".", "./", "data.txt", "./data.txt", "sub/..", "sub/../data.txt", "sub/deep/../..", "with space", "new/file", "in/deep", "shortcut", "loop", "loop/x",
		"shortcut/data.txt", g.ws, g.ws + "/data.txt", g.ws + "/new", g.root + "/granted/file", "togranted", "tool", "-Isub", "-I.", "--file=sub/deep",
		"/usr/bin/env", "/usr", "/usr/share/none", "/bin/ls", "/usr/bin/awk", "/etc/ssl/certs", "/usr/../usr/bin", "/usr/bin/../lib",
		"/scratch", "/scratch/out.o", "-o/scratch/out.o", "--output=/scratch/x",
		"/dev/null", "/dev/zero", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/63", "of=/dev/null", "/proc/self/fd/1", "/proc/cpuinfo", "/proc/self/status",
		// separators
		"/", "//", "-/", "-d/", "-F/", "-t/", "/.", "--separator=/",
		// only similar to paths
		"s/a/b/", "s/a/b/g", "s/../../", "s/../../g", "s/a/../", "y/abc/xyz/", "/foo/", "/foo/p", "/p", "/^$/d", "/foo/,/bar/p", "1,$p", "/foo/{x;s/a/b/}",
		"https://example.com/etc/passwd", "https://example.com/../../etc", "http://h/?f=/etc", "git@example.com:/etc/x.git", "host:/etc/passwd", "ssh://host/etc", "user@host:../x",
		"origin/main", "HEAD~1..HEAD", "main..feature/x", "..origin/main", "HEAD:../x", "HEAD:/etc/x", "HEAD^", "@{u}", "@", "a...b", "./...", "...", "..x", "x..",
		"library/python:3.11", "registry.example.com:5000/a/b:tag", "1/2/2024", "2024-01-02T10:00:00", "10.0.0.0/8", "a/b/c", "*.go", "**/*.go", "*/../*", "[a-z]/*", "{a,b}/c",
		`{"path":"/etc/passwd"}`, `["/etc","/root"]`, `{"a": {"b": "../.."}}`, "%H/%s", "--format=%an/%ae", "+%Y/%m/%d", "x=y/z", "-DNAME=value", "-DPATH=\"/etc\"", "-O2", "-Wall,extra", "-n1", "--", "-",
		"~1.2.3", "~nobody-of-that-name", "~nobody-of-that-name/x", "^1.0", "foo~", "a~b", "$HOME/x", "${x}/../y", "%2e%2e/%2e%2e", "\\..\\..\\x",
		"/etc/hosts is a file", "fix: /etc is\nbroken", "see ../.. for more", "-Isrc/etc", "-Lsub/lib", "\x01", "\xff\xfe", strings.Repeat("a", 5000), strings.Repeat("/x", 2000), "</div>", "a,b,c", ",", ":", "=", "==", "@@", "a:b:c", "k=v,k2=v2", "ratio=1:2",
		"a@b", "file:", "file://", "file:data.txt", "file:///usr/share/x", "C:\\x", "-Xmx1g", "-vvv",
	} {
		t.Run(arg, func(t *testing.T) {
			g.t = t
			g.allowed("ls", arg)
		})
	}
}

func TestRefusedPathTellsBothNames(t *testing.T) {
	g := newPathFixture(t)
	secret := g.outside + "/secret"
	g.refused(rulePath, []string{"cat", "leak"}, "leak goes through the link "+g.ws+"/leak to "+secret, "`read:`", "workspace "+g.ws)
	g.refused(rulePath, []string{"cat", "chain"}, g.ws+"/leak", secret)
	g.refused(rulePath, []string{"cat", "--in=../outside/secret"}, "--in=../outside/secret names ../outside/secret is "+secret)
	// A path to the workspace that exists only on the host.
	g.link("ws", "alias")
	g.refused(rulePath, []string{"cat", g.root + "/alias/data.txt"}, "inside it is called "+g.ws+"/data.txt")
	v := g.check("cat", "/etc/passwd")
	if !slices.Contains(v.Refusals[0].Allowed, g.ws) || !slices.Contains(v.Refusals[0].Allowed, "/usr") {
		t.Errorf("what is visible is not listed: %q", v.Refusals[0].Allowed)
	}
}

// A workspace is often below /tmp, and /tmp is private inside: the guest does not see the
// other files in the host's /tmp.
func TestWorkspaceBelowScratch(t *testing.T) {
	g := newFixture(t)
	g.scope.Scratch = filepath.Dir(g.root)
	g.link("../outside/secret", "ws/leak")
	g.link(g.scope.Scratch, "ws/tmp")
	for _, arg := range []string{"..", "../outside/secret", "leak", "sub/../../outside"} {
		g.refused(rulePath, []string{"cat", arg}, "not visible inside")
	}
	for _, arg := range []string{"data.txt", g.ws + "/data.txt", g.scope.Scratch + "/x", g.scope.Scratch, "tmp"} {
		g.allowed("cat", arg)
	}
	g.scope.Dir = g.scope.Scratch + "/work"
	g.allowed("cat", "../x", "x")
}

func TestDirectoryDecidesAboutRelativePaths(t *testing.T) {
	g := newFixture(t)
	g.scope.Dir = g.ws + "/sub/deep"
	g.allowed("cat", "../../data.txt")
	g.refused(rulePath, []string{"cat", "../../../outside/secret"})
	g.link("sub/deep", "ws/short")
	g.scope.Dir = g.ws + "/short" // the kernel goes to sub/deep
	g.allowed("cat", "../deep/data.txt")
	g.scope.Workspace, g.scope.Dir = "", "/scratch"
	g.allowed("cat", "x")
	g.refused(rulePath, []string{"cat", "../etc/passwd"})
	g.refused(rulePath, []string{"cat", ".."})
	g.scope.Dir = ""
	g.refused(rulePath, []string{"cat", "etc/passwd"})
	g.allowed("cat", "usr/share")
}

func TestManyRefusalsAreCounted(t *testing.T) {
	g := newFixture(t)
	argv := append([]string{"cat"}, slices.Repeat([]string{"/etc/passwd"}, 100)...)
	v := g.check(argv...)
	last := v.Refusals[len(v.Refusals)-1]
	if len(v.Refusals) != maxRefusals || last.Count != 100-maxRefusals+1 || !strings.Contains(last.Detail, "and 84 more") {
		t.Errorf("%d refusals, the last %+v", len(v.Refusals), last)
	}
}

// If /proc is visible, the links in it that lead outside are still refused.
func TestProcIsVisible(t *testing.T) {
	g := newFixture(t)
	g.scope.System = append(g.scope.System, "/proc")
	g.allowed("cat", "/proc/net/dev", "/proc/1/status", "/proc/self/mountinfo")
	for _, arg := range []string{"/proc/self/root/etc/passwd", "/proc/1/root", "/proc/self/cwd/../x", "/proc/self/fd/3/x", "/proc/self/task/1/root/etc", "/proc/self/exe"} {
		g.refused(rulePath, []string{"cat", arg})
	}
}

// A link in a system directory that dangles inside is allowed: nothing can be read through
// it, and it does not come from the workspace.
func TestSystemLinksThatDangle(t *testing.T) {
	g := newFixture(t)
	g.write("sys/x", "", 0o644)
	g.link("../outside/secret", "sys/link")
	g.scope.System = append(g.scope.System, g.root+"/sys")
	g.allowed("cat", g.root+"/sys/link")
	g.refused(rulePath, []string{"cat", g.root + "/sys/../outside/secret"})
}

func TestGrantInsideOfTheSystemAndAround(t *testing.T) {
	g := newFixture(t)
	g.scope.Read = []string{"/"}
	g.allowed("cat", "/etc/passwd")
	sh := need(t, "sh")
	g.refused(ruleInterpreter, []string{"sh"}, sh, "a shell")
	g.refused(ruleInterpreter, []string{"env", "sh"}, "a shell")
}

// A program that changes its directory first resolves its arguments from there.
func TestArgumentsFromAnotherDirectory(t *testing.T) {
	workspace := t.TempDir()
	if err := os.MkdirAll(filepath.Join(workspace, "repo/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := Scope{Workspace: workspace, Dir: workspace, System: []string{"/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"}, Scratch: "/tmp", Path: []string{"/usr/bin", "/bin"}}
	for _, test := range []struct {
		line    string
		refused bool
	}{
		{"tar -C repo -xf ../x.tar", false},
		{"tar -Crepo -xf ../x.tar", false},
		{"tar --directory=repo -xf ../x.tar", false},
		{"tar --directory repo -xf ../x.tar", false},
		{"tar -C repo -C sub -xf ../../x.tar", false},
		{"tar -xf ../x.tar", true},
		{"tar -C repo -xf ../../x.tar", true},
		{"tar -C .. -xf ../x.tar", true},
		{"tar -C /etc -xf ../x.tar", true},
	} {
		verdict, err := Check(strings.Fields(test.line), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(verdict.Refusals) > 0; got != test.refused {
			t.Errorf("%s: refused %v: %+v", test.line, got, verdict.Refusals)
		}
	}
}
