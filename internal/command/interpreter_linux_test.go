package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/run"
)

func TestInterpretersAreRefused(t *testing.T) {
	g := newFixture(t)
	for name, kind := range map[string]string{"sh": "a shell", "bash": "a shell", "perl": "a Perl interpreter", "python3": "a Python interpreter", "awk": "an awk interpreter"} {
		t.Run(name, func(t *testing.T) {
			g.t = t
			real := need(t, name)
			g.refused(ruleInterpreter, []string{name, "-c", "x"}, real, kind, "allow_interpreters: true")
			g.refused(ruleInterpreter, []string{real}, real+" is "+kind)
			g.refused(ruleInterpreter, []string{"/usr/bin/../bin/" + filepath.Base(real)}, kind)
			g.link(real, "ws/link-"+name)
			g.refused(ruleInterpreter, []string{"./link-" + name}, real, kind)
			g.link("link-"+name, "ws/chain-"+name)
			g.refused(ruleInterpreter, []string{g.ws + "/chain-" + name}, real)
			g.copyOf(need(t, "true"), "ws/"+filepath.Base(real))
			g.refused(ruleInterpreter, []string{"./" + filepath.Base(real)}, kind)
			g.scope.AllowInterpreters = true
			g.allowed(name)
			g.scope.AllowInterpreters = false
		})
	}
}

func TestOrdinaryToolsAreAllowed(t *testing.T) {
	g := newFixture(t)
	missing := 0
	for _, name := range strings.Fields("ls cat cp mv rm ln mkdir touch tar gzip grep sed sort uniq head tail wc cut tr find xargs diff cmp date echo printf true false " +
		"test sleep stat du df id env nice timeout nohup tee basename dirname readlink realpath sha256sum base64 od seq dd install expr numfmt " +
		"make gcc cc ld as git curl wget openssl sqlite3 jq bc dc m4 patch file zip unzip xz less ed go") {
		v, err := Check([]string{name}, g.scope)
		if run.ClassOf(err) == run.NotFound {
			missing++
			continue
		}
		if err != nil || v.Refusals != nil {
			t.Errorf("%s: %v, %+v", name, err, v.Refusals)
		}
	}
	if missing > 30 {
		t.Errorf("%d tools are missing: too few were tested", missing)
	}
}

// systemPrograms creates system programs with these names; the rule decides by name.
func (g *fixture) systemPrograms(names ...string) {
	g.t.Helper()
	for _, name := range names {
		g.copyOf(need(g.t, "true"), "bin/"+name)
	}
	if bin := filepath.Join(g.root, "bin"); !slices.Contains(g.scope.System, bin) {
		g.scope.System, g.scope.Path = append(g.scope.System, bin), append([]string{bin}, g.scope.Path...)
	}
}

func TestWrappers(t *testing.T) {
	g := newFixture(t)
	g.systemPrograms("env", "nice", "timeout", "xargs", "find", "fd", "sudo", "flock", "stdbuf", "strace", "busybox", "ld-linux-x86-64.so.2", "true", "ls", "grep", "sh", "python3.11")
	g.write("ws/run", "#!/bin/sh\n", 0o755)
	for _, line := range []string{
		"env sh", "env A=1 B=/x sh -c x", "env -i sh", "env - sh", "env -u HOME sh", "env -C sub sh", "env -S sh", "env -Ssh", "env -iSsh", "env --split-string=sh", "env ./run", "env no-such-directory/bash",
		"nice sh", "nice -n 5 sh", "nice nice -n 5 env timeout 5 sh", "timeout 5 sh", "timeout -s KILL 5s sh", "xargs sh", "xargs -n1 -I{} sh -c {}", "stdbuf -oL python3.11", "sudo -u nobody sh", "strace -f -o log sh",
		"flock lock sh", "find . -exec sh -c x ;", "find . -name x -execdir env sh ;", "fd x -x sh", "busybox sh", "busybox env sh", "busybox ash -c x", "env busybox sh", "ld-linux-x86-64.so.2 " + g.root + "/bin/sh",
		"env -S nice\tsh",
	} {
		t.Run(line, func(t *testing.T) {
			g.t = t
			g.refused(ruleInterpreter, strings.Split(line, " "))
		})
	}
	for _, line := range []string{
		"env", "env A=sh", "env ls", "env ls sh", "env ls -S sh", "env -S ls", "nice -n 5 grep sh data.txt", "timeout 5 ls bash", "xargs", "xargs ls", "find . -name sh", "find . -exec ls {} ;", "busybox", "busybox ls sh", "true sh", "env no-such-command",
	} {
		t.Run(line, func(t *testing.T) {
			g.t = t
			g.allowed(strings.Fields(line)...)
		})
	}
}

func TestWrapperSentences(t *testing.T) {
	g := newFixture(t)
	sh := need(t, "sh")
	g.refused(ruleInterpreter, []string{"env", "sh"}, "env runs "+sh+", a shell")
	g.refused(ruleInterpreter, []string{"nice", "env", "sh"}, "nice runs "+need(t, "env")+", which runs "+sh+", a shell")
	g.write("ws/run", "#!/bin/sh\n", 0o755)
	g.refused(ruleInterpreter, []string{"env", "./run"}, "env runs ./run, which begins with #!/bin/sh, a shell")
}

// The check is not a wall: commands that it does not recognize pass, and the walls contain
// them.
func TestKnownGaps(t *testing.T) {
	g := newFixture(t)
	g.copyOf(need(t, "sh"), "ws/tool")
	g.allowed("./tool", "-c", "x")
	need(t, "git")
	g.allowed("git", "-c", "alias.x=!sh", "x")
}

// The cost of a check is bounded by the length of the command line, because agents write
// command lines.
func TestHostileCommandsAreBounded(t *testing.T) {
	hosttest.NotUnderRace(t, "it has one thread and much to do")
	g := newFixture(t)
	for i := range 38 { // each link doubles the length of the path
		target := "l" + string(rune('A'+i+1))
		g.link(target+"/../"+target, "ws/l"+string(rune('A'+i)))
	}
	for _, argv := range [][]string{
		slices.Repeat([]string{"env"}, 100_000),
		append([]string{"find", "."}, slices.Repeat([]string{"-exec", "no-such-command", ";"}, 20_000)...),
		append([]string{"nice"}, slices.Repeat([]string{"x"}, 100_000)...),
		append([]string{"ls"}, slices.Repeat([]string{"lA/" + strings.Repeat("x/../", 500)}, 500)...),
		{"ls", strings.Repeat("a:/b,=@", 18_000)},
	} {
		v, err := newView(g.scope)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.check(argv); err != nil {
			t.Errorf("%s: %v", brief(argv), err)
		}
		if v.spent > 2*maxWork {
			t.Errorf("%s took %d steps", brief(argv), v.spent)
		}
	}
}

// A command line of the greatest length that the kernel accepts is checked completely.
func TestManyOrdinaryArgumentsAreJudged(t *testing.T) {
	hosttest.NotUnderRace(t, "it has one thread and much to do")
	g := newFixture(t)
	argv := append([]string{"ls"}, slices.Repeat([]string{"sub/deep/data.txt"}, 50_000)...)
	g.allowed(argv...)
	g.refused(rulePath, append(argv, "/etc/passwd"), "/etc/passwd")
}

func TestUnreadablePrograms(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	g := newFixture(t)
	g.write("ws/secret", "\x7fELF", 0o111)
	g.allowed("./secret")
}
