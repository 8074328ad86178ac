package command

import (
	"slices"
	"strings"
	"testing"
)

// words takes a line apart; "|" begins a word with spaces in it.
func words(line string) []string {
	before, after, ok := strings.Cut(line, "|")
	argv := strings.Fields(before)
	if ok {
		argv = append(argv, after)
	}
	return argv
}

// Each of them runs sh in the end.
func TestWrappersAreLookedThrough(t *testing.T) {
	g := newGround(t)
	sh, loader := need(t, "sh"), existing("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
	for _, line := range []string{
		"env sh", "env -i sh", "env - sh", "env -u HOME sh", "env -uHOME sh", "env --unset=HOME sh", "env --unset HOME sh", "env A=1 B=2 sh -c x", "env -C /usr sh", "env --chdir=/usr sh", "env -i A=1 -- sh",
		"env -S|sh -c x", "env -Ssh", "env -iS|sh x", "env -vSsh", "env --split-string=sh -c", "env --split-string|sh", "env --split=sh", "env -S|-S sh", "env -S|A=1 env -S 'sh'", `env -S|"sh" -c x`, `env -S|s\h`, `env -S|\_sh`,
		"env -S|${X} y", "env -S|'sh", "env -C /usr/bin ./sh", "env PATH=/usr/bin sh", "env -P /usr/bin sh", "env -u A -S sh", "env --argv0 ls sh", "env -a ls sh", "env env env sh", "/usr/bin/env sh", "env /bin/sh", "env --ignore-signal=INT sh", "env -0 sh", "env -0u HOME sh", "env no-such-value sh", "nice no-such-value env sh", "xargs -0n 1 sh",
		"nice sh", "nice -n 5 sh", "nice -5 sh", "nice --adjustment=5 sh", "nice --adj 5 sh", "nice -n5 sh", "nice -Z 5 sh", "nice -Z ls sh", "nice --unknown ls sh",
		"ionice -c 3 sh", "ionice -c3 -n 7 -t sh", "nohup sh", "timeout 5 sh", "timeout -s KILL 5 sh", "timeout -k 1 --signal=TERM --preserve-status 5 sh", "timeout --sig KILL 5 sh", "timeout --foreground 5s sh",
		"setsid sh", "setsid -w -f sh", "stdbuf -oL sh", "stdbuf -o L -e 0 sh", "stdbuf --output=L sh", "chrt -f 10 sh", "chrt --idle 0 sh", "chrt -T 1 -P 2 -D 3 -d 0 sh", "taskset 1 sh", "taskset -c 0 sh", "taskset -ac 0-3 sh",
		"unshare sh", "unshare", "unshare -r", "unshare -Ur --map-user=0 sh", "unshare --fork --pid sh", "nsenter -t 1 -m sh", "nsenter", "setpriv --reuid=1 sh", "setpriv --reuid 1 --clear-groups sh", "choom -n 1 -- sh",
		"xargs sh", "xargs -n 1 sh -c", "xargs -I{} sh {}", "xargs -I {} {}", "xargs -I% %", "xargs -0 -P 4 sh", "xargs --max-args=1 sh", "xargs -i sh", "xargs env", "xargs nice -n 5", "xargs -a data.txt timeout 5", "xargs find . -exec sh ;", "xargs xargs sh",
		"find . -exec sh ;", "find . -name x -exec sh -c y {} ;", "find . -execdir sh {} +", "find . -ok sh ;", "find . -okdir sh ;", "find . -exec ls ; -exec sh ;", "find . -exec {} ;", "find . -exec env {} ;", "find . -exec env sh ;", "find . -exec ls {} + -exec sh {} +", "find . -exec sh",
		"fd x -x sh", "fd -x sh -c y ;", "fd -X sh", "fd -xsh", "fd -Hxsh", "fd -HIx sh", "fd -x=sh", "fd --exec sh", "fd --exec=sh", "fd . -x ls ; -x sh", "fd -x {}",
		"flock data.txt sh", "flock -n data.txt sh", "flock -w 5 data.txt sh", "flock data.txt -c x", "flock -c x data.txt", "flock data.txt --command x", "chroot / sh", "chroot /", "chroot --userspec=0:0 / sh",
		"su", "su -c x", "su root", "script", "script -c x", "script -q data.txt", "watch ls", "watch -n 1 ls", "watch -x sh", "runuser root", "runuser -u root sh", "runuser -u root -- sh", "runuser -c x root", "newgrp", "sg root x",
		"run-parts --arg=sh .", "prlimit --nofile=5 sh", "prlimit -n5 --cpu 5 sh", "setarch x86_64 sh", "setarch -R sh", "linux64 sh", "x86_64 -R sh", "systemd-run sh", "ssh-agent sh", "start-stop-daemon --start --exec " + sh, "start-stop-daemon --exec=" + sh, "start-stop-daemon -S -x" + sh, "start-stop-daemon -Sx" + sh, "nice -Z" + sh, "perf stat sh", "ip netns exec x sh",
		"nice env timeout 5 nohup setsid sh", "time sh", "time -f x -o data.txt sh", "sudo sh", "sudo -u root A=1 sh", "sudo -s", "sudo -i", "strace -f -o data.txt sh", "strace -e trace=file sh", "bwrap --bind / / sh", "tmux", "screen sh", "logsave data.txt sh",
	} {
		t.Run(line, func(t *testing.T) {
			g.t = t
			argv := words(line)
			g.standIns(argv[0])
			g.refused(ruleInterpreter, argv)
		})
	}
	if len(loader) == 0 {
		missing(t, "the loader of glibc") // a stand-in would not do: its contents tell
	}
	for _, ld := range loader {
		for _, args := range [][]string{{sh}, {"--argv0", "ls", sh}, {"--argv0=ls", sh}, {"--preload", "x.so", sh}, {"--library-path", "/usr/lib", "--inhibit-cache", sh}, {"--unknown", "x", sh}, {"--", sh}} {
			g.t = t
			g.refused(ruleInterpreter, append([]string{ld}, args...), "runs "+sh, "a shell")
		}
		g.allowed(ld, need(t, "ls"))
		g.allowed(ld, "--list", need(t, "ls"))
		// It does not ask for the x bit.
		g.copyOf(sh, "ws/noexec")
		g.write("ws/noexec", string(must(t, sh)), 0o644)
		g.refused(ruleInterpreter, []string{ld, "./noexec"}, "a shell")
		g.copyOf(ld, "ws/loader", 0)
		g.refused(ruleInterpreter, []string{"./loader", sh}, "a shell")
	}
}

// find is view.find for tests.
func (g *ground) find(name string) (file, error) {
	v, err := newView(g.scope)
	if err != nil {
		return file{}, err
	}
	return v.find(v.dir, name, v.Path)
}

func TestWrappersOfOrdinaryCommands(t *testing.T) {
	g := newGround(t)
	for _, line := range []string{
		"env", "env -i", "env A=1", "env ls", "env -i PATH=/usr/bin ls -l", "env grep sh data.txt", "env -u bash.rc ls", "env no-such-command", "env -C sub ls", "env -S|ls -l", "env -S|grep 'python3' data.txt", "env --version", "env -- ls sh", "timeout --sig KILL 5 grep sh data.txt", "nice --adj 5 ls sh",
		"nice ls", "nice -n 5 make python3", "timeout 5 grep bash data.txt", "timeout -k 1 5 ls", "nohup make -j2", "setsid ls", "stdbuf -oL grep sh", "taskset -c 0 make", "chrt -p 1", "ionice -p 1",
		"xargs", "xargs ls", "xargs -n 1 rm -f", "xargs -I{} cp {} sub", "xargs grep sh", "find . -name sh", "find . -name bash -print", "find . -exec ls {} ;", "find . -exec grep sh {} +", "find . -exec env ls ;", "fd sh", "fd -e sh", "fd -x ls", "fd -HIxls", "fd -e txt -x grep sh",
		"flock data.txt ls", "watch -x ls", "runuser -u root ls", "chroot / ls", "unshare -r ls", "setpriv --nnp ls", "prlimit --nofile=5 ls", "time ls sh", "strace -o data.txt ls sh", "sudo ls",
	} {
		t.Run(line, func(t *testing.T) {
			g.t = t
			argv := words(line)
			g.standIns(argv[0])
			g.allowed(argv...)
		})
	}
}

// A PATH of one's own puts harmless programs in front of the system's, and a
// wrapper takes that PATH away again.
func TestWrappersThatForgetThePath(t *testing.T) {
	g := newGround(t)
	need(t, "sh")
	for _, name := range []string{"sh", "nice", "watch", "node"} {
		g.copyOf(need(t, "ls"), "ws/bin/"+name, 1)
	}
	g.scope.Path = []string{g.ws + "/bin"}
	for _, line := range []string{"-i sh", "- sh", "-u PATH sh", "-i nice sh", "-i env sh"} {
		g.refused(ruleInterpreter, append([]string{"/usr/bin/env"}, strings.Fields(line)...), "a shell")
	}
	// What lies in a project's own directory is the project's, also on its PATH.
	g.allowed("watch", "sh")
	g.allowed("node")
	g.allowed("nice", "ls")
	g.scope.Path = append(g.scope.Path, "/usr/bin")
	g.allowed("env", "node-of-our-own")
}

func TestWrapperSentences(t *testing.T) {
	g := newGround(t)
	sh, ls := need(t, "sh"), need(t, "ls")
	g.refused(ruleInterpreter, []string{"env", "sh"}, "env runs "+sh+", a shell")
	g.refused(ruleInterpreter, []string{"nice", "env", "sh"}, "nice runs "+need(t, "env")+", which runs "+sh+", a shell")
	g.write("ws/run", "#!/bin/sh\n", 0o755)
	g.refused(ruleInterpreter, []string{"env", "./run"}, "env runs ./run, which begins with #!/bin/sh, a shell")
	g.write("ws/text", "echo\n", 0o755)
	g.refused(ruleInterpreter, []string{"env", "./text"}, "env runs ./text, which has no #! line, so that a shell would run it")
	// As an argument it is only a file.
	g.allowed("env", ls, "./text")
}

// Wrappers of which any word may be the command must not multiply the work.
func TestWrappersWithoutEnd(t *testing.T) {
	g := newGround(t)
	g.refused(ruleInterpreter, slices.Repeat([]string{"env"}, 1000), "too often")
	g.write("bin/setarch", string(fakeELF("libc.so.6")), 0o755)
	g.scope.System = append(g.scope.System, g.root+"/bin")
	setarch := g.root + "/bin/setarch"
	g.allowed(setarch, "ls", "ls")
	g.refused(ruleInterpreter, slices.Repeat([]string{setarch}, 2000), "too often")
	g.refused(ruleInterpreter, append(slices.Repeat([]string{setarch}, 12), slices.Repeat([]string{"ls"}, 100)...), "too often")
	many := slices.Repeat([]string{"-exec", "no-such-command", ";"}, 20_000)
	g.refused(ruleInterpreter, append([]string{"find", "."}, many...), "too many arguments")
	g.refused(ruleInterpreter, append([]string{setarch}, slices.Repeat([]string{"x"}, 100_000)...), "too many arguments")
	g.write("bin/busybox", string(fakeELF("libc.so.6")), 0o755)
	g.refused(ruleInterpreter, slices.Concat([]string{g.root + "/bin/busybox"}, slices.Repeat([]string{"busybox"}, 50_000)), "too often")
	nested := "sh"
	for range 20 {
		nested = "-S " + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(nested)
		if len(nested) > 4096 {
			break
		}
	}
	g.refused(ruleInterpreter, []string{"env", nested}, "")
}

func TestNestedSplitStrings(t *testing.T) {
	g := newGround(t)
	for depth := range 40 {
		argv := []string{"env", strings.Repeat("-S", depth) + "bash", "-c", "echo x"}
		if depth == 0 {
			argv[1] = "bash"
		}
		g.refused(ruleInterpreter, argv)
	}
	g.refused(ruleInterpreter, []string{"env", strings.Repeat("-S", 30) + "ls"}, "env hides its command in too many -S")
	g.allowed("env", "-S-S-Sls")
}

func TestSplitWords(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
		ok   bool
	}{
		{"", nil, true}, {"  ", nil, true}, {"a b", []string{"a", "b"}, true}, {"a\tb\n", []string{"a", "b"}, true}, {`'a b' "c d"`, []string{"a b", "c d"}, true},
		{`a\_b`, []string{"a", "b"}, true}, {`"a\_b"`, []string{"a b"}, true}, {`a\ b`, []string{"a b"}, true}, {`a\cb c`, []string{"a"}, true}, {`a #b`, []string{"a"}, true}, {`a#b`, []string{"a#b"}, true},
		{`''`, []string{""}, true}, {`'a`, []string{"a"}, false}, {`${X}`, nil, false}, {`'$X'`, []string{"$X"}, true}, {`\$X`, []string{"$X"}, true}, {`'\n'`, []string{`\n`}, true}, {`\`, []string{`\`}, true}, {`a"b"'c'`, []string{"abc"}, true},
	} {
		if got, ok := splitWords(test.text); ok != test.ok || ok && !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, %t; want %q, %t", test.text, got, ok, test.want, test.ok)
		}
	}
}
