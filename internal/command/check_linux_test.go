package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

func must(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCommandsThatCannotBe(t *testing.T) {
	g := newFixture(t)
	g.write("ws/plain", "echo hello\n", 0o755)
	g.write("ws/empty", "", 0o755)
	g.write("ws/noexec", "#!/bin/cat\n", 0o644)
	g.write("ws/nothing", "#!\n", 0o755)
	g.write("ws/blank", "#!   \n", 0o755)
	g.write("ws/gone", "#!/usr/bin/no-such-program\n", 0o755)
	g.write("ws/unseen", "#!"+g.outside+"/program\n", 0o755)
	g.write("ws/crlf", "#!/usr/bin/cat\r\n", 0o755)
	g.write("ws/directory", "#!/usr/bin\n", 0o755)
	g.write("ws/endless", "#!"+strings.Repeat("/", 300)+"usr/bin/cat\n", 0o755)
	g.write("ws/loop", "#!./loop\n", 0o755)
	g.write("ws/wrongformat", "#!./plain\n", 0o755)
	g.write("ws/class.jar", "PK\x03\x04", 0o755)
	g.write("outside/program", "#!/bin/cat\n", 0o755)
	g.link("../outside/program", "ws/leak")
	g.link("no-such-file", "ws/dangling")
	fifo := filepath.Join(g.ws, "fifo")
	if err := syscall.Mkfifo(fifo, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		argv  []string
		class run.Class
		words string
	}{
		{nil, run.Invalid, "no command"}, {[]string{}, run.Invalid, "no command"}, {[]string{""}, run.Invalid, "no command"}, {[]string{"", "x"}, run.Invalid, ""},
		{[]string{"l\x00s"}, run.Invalid, "NUL"}, {[]string{"ls", "a\x00b"}, run.Invalid, "argument 1 has a NUL"},
		{[]string{"ls", strings.Repeat("a", 128<<10)}, run.Invalid, "131072 bytes"}, {append([]string{"ls"}, slices.Repeat([]string{strings.Repeat("a", 100<<10)}, 16)...), run.Invalid, "use a file"},
		{append([]string{"ls"}, slices.Repeat([]string{""}, 200_000)...), run.Invalid, "use a file"},
		{[]string{"no-such-command"}, run.NotFound, "PATH"}, {[]string{"./no-such-file"}, run.NotFound, "does not exist"}, {[]string{"/usr/bin/no-such-file"}, run.NotFound, ""},
		{[]string{"data.txt"}, run.NotFound, "PATH"}, {[]string{g.outside + "/program"}, run.NotFound, "not visible inside"}, {[]string{"../outside/program"}, run.NotFound, "not visible inside"},
		{[]string{"./leak"}, run.NotFound, g.outside + "/program"}, {[]string{"./dangling"}, run.NotFound, "no-such-file"}, {[]string{"/scratch/x"}, run.NotFound, "private"}, {[]string{"./data.txt/x"}, run.NotFound, ""},
		{[]string{"./plain"}, run.NotExecutable, "neither"}, {[]string{"./empty"}, run.NotExecutable, "neither"}, {[]string{"./noexec"}, run.NotExecutable, "chmod"}, {[]string{"./sub"}, run.NotExecutable, "directory"}, {[]string{"/"}, run.NotExecutable, "directory"},
		{[]string{"."}, run.NotExecutable, "directory"}, {[]string{"./fifo"}, run.NotExecutable, "regular"}, {[]string{"/dev/null"}, run.NotExecutable, "not a program"}, {[]string{"./nothing"}, run.NotExecutable, ""}, {[]string{"./blank"}, run.NotExecutable, ""},
		{[]string{"./gone"}, run.NotFound, "no-such-program"}, {[]string{"./unseen"}, run.NotFound, "not visible"}, {[]string{"./crlf"}, run.NotFound, "CR LF"}, {[]string{"./directory"}, run.NotExecutable, "directory"},
		{[]string{"./endless"}, run.NotExecutable, ""}, {[]string{"./loop"}, run.NotExecutable, "gives up"}, {[]string{"./wrongformat"}, run.NotExecutable, ""}, {[]string{"./class.jar"}, run.NotExecutable, ""},
	} {
		g.scope.AllowInterpreters = true
		_, err := Check(test.argv, g.scope)
		wantClass(t, err, test.class, test.words)
		g.scope.AllowInterpreters = false
		v, err := Check(test.argv, g.scope)
		if err == nil && v.Refusals == nil {
			t.Errorf("%.80q would start", test.argv)
		}
	}
}

func TestScopesThatCannotBe(t *testing.T) {
	g := newFixture(t)
	for _, change := range []func(*Scope){
		func(s *Scope) { s.Workspace = "ws" }, func(s *Scope) { s.Dir = "ws" }, func(s *Scope) { s.Read = []string{"x"} }, func(s *Scope) { s.Write = []string{""} },
		func(s *Scope) { s.Dir = g.outside }, func(s *Scope) { s.Dir = "/dev/null" }, func(s *Scope) { s.System = []string{"usr"} }, func(s *Scope) { s.Dir = "/a\x00b" },
	} {
		s := g.scope
		change(&s)
		_, err := Check([]string{"ls"}, s)
		wantClass(t, err, run.Invalid)
	}
	_, err := Check([]string{"ls"}, Scope{})
	wantClass(t, err, run.NotFound)
	_, err = Check([]string{"/bin/ls"}, Scope{})
	wantClass(t, err, run.NotFound)
}

func TestPathOfTheExecutable(t *testing.T) {
	g := newFixture(t)
	g.write("ws/tool", string(must(t, need(t, "ls"))), 0o755)
	g.write("ws/sub/deep/tool", string(must(t, need(t, "ls"))), 0o755)
	g.link("sub/deep", "ws/short")
	g.link("/usr/bin/env", "ws/link")
	g.write("granted/tool", string(must(t, need(t, "ls"))), 0o755)
	g.scope.Read = []string{g.root + "/granted"}
	for _, test := range [][2]string{
		{"ls", "/usr/bin/ls"}, {"/bin/ls", "/bin/ls"}, {"./tool", g.ws + "/tool"}, {"sub/../tool", g.ws + "/tool"}, {".//tool", g.ws + "/tool"}, {g.ws + "/./tool", g.ws + "/tool"},
		{"short/tool", g.ws + "/short/tool"}, {"short/../deep/tool", g.ws + "/sub/deep/tool"}, {"./link", g.ws + "/link"}, {g.root + "/granted/tool", g.root + "/granted/tool"},
	} {
		if v := g.check(test[0]); v.Path != test[1] || v.Refusals != nil {
			t.Errorf("%s: %+v; want %s", test[0], v, test[1])
		}
	}
	// Relative directories of the PATH are not searched, and files that are not
	// executable are skipped.
	g.scope.Path = []string{"", ".", "sub", g.ws + "/sub", "/usr/bin"}
	_, err := Check([]string{"tool"}, g.scope)
	wantClass(t, err, run.NotFound)
	g.write("ws/sub/ls", "x", 0o644)
	if v := g.check("ls"); v.Path != "/usr/bin/ls" {
		t.Error(v.Path)
	}
	g.write("ws/sub/only", "x", 0o644)
	_, err = Check([]string{"only"}, g.scope)
	wantClass(t, err, run.NotExecutable)
}

func TestScripts(t *testing.T) {
	g := newFixture(t)
	need(t, "python3")
	g.write("ws/inner", "#!/bin/sh\n", 0o755)
	g.write("ws/middle", "#!./inner\n", 0o755)
	far := strings.Repeat(" ", 300)
	for _, test := range []struct{ text, detail string }{
		{"#!/bin/sh\n", "./s begins with #!/bin/sh, a shell"}, {"#!/bin/sh", "a shell"}, {"#! /bin/sh -e\n", "begins with #!/bin/sh -e, a shell"}, {"#!\t/bin/sh\n", "a shell"}, {"#!/bin/sh\r\n", "a shell"}, {"#!/bin/sh -e\r\n", "a shell"},
		{"#!/usr/bin/env python3\n", "begins with #!/usr/bin/env python3, which runs "}, {"#!/usr/bin/env python3\r\n", "a Python interpreter"}, {"#!/usr/bin/env -S python3 -u\n", "a Python interpreter"}, {"#!/usr/bin/env -S A=1 python3\n", "a Python interpreter"},
		{"#!/usr/bin/env -iS python3\n", "a Python interpreter"}, {"#!/usr/bin/env   sh\n", "a shell"}, {"#!/usr/bin/nice sh\n", "a shell"}, {"#!/usr/bin/awk -f\n", "awk"}, {"#!./inner\n", "which begins with #!/bin/sh, a shell"}, {"#!./middle\n", "a shell"},
		{"#!" + g.ws + "/inner\n", "a shell"}, {"#!/bin/../bin/sh\n", "a shell"}, {"#!/bin/sh" + far + "-e\n", "a shell"}, {"#!/usr/bin/env " + far + "sh\n", "a shell"}, {"#!/usr/bin/env -S sh" + far + "\n", "a shell"}, {"#!/bin/sh\x00x\n", "a shell"},
		{"#!/usr/bin/make -f\n", ""}, {"#!/bin/cat\n", ""}, {"#!/bin/cat -n\n/bin/sh\n", ""}, {"#!/usr/bin/env cat\n", ""}, {"#!/usr/bin/sed -f\n", ""}, {"#!/usr/bin/env -S sed -n -f\n", ""},
	} {
		g.write("ws/s", test.text, 0o755)
		if strings.Contains(test.text, "awk") {
			need(t, "awk")
		}
		if test.detail == "" {
			g.allowed("./s")
			continue
		}
		g.refused(ruleInterpreter, []string{"./s", "arg"}, test.detail)
		g.refused(ruleInterpreter, []string{"timeout", "5", "./s"}, "runs ./s, which begins")
	}
	// A script with the name of a tool, before it in the PATH.
	g.write("ws/bin/ls", "#!/bin/sh\n", 0o755)
	g.scope.Path = append([]string{g.ws + "/bin"}, g.scope.Path...)
	g.refused(ruleInterpreter, []string{"ls"}, "ls begins with #!/bin/sh, a shell")
	g.refused(ruleInterpreter, []string{"env", "ls"}, "begins with #!/bin/sh, a shell")
	g.scope.Path = g.scope.Path[1:]
	g.allowed("env", "ls")
}

func TestHammer(t *testing.T) {
	g := newFixture(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := g.scope
			s.Path = append(slices.Clone(s.Path), filepath.Join(g.root, string(rune('a'+i))))
			for range 50 {
				if v, err := Check([]string{"env", "sh"}, s); err != nil || v.Refusals == nil {
					t.Errorf("%+v, %v", v, err)
				}
				if v, err := Check([]string{"ls", "-l", "data.txt"}, s); err != nil || v.Refusals != nil {
					t.Errorf("%+v, %v", v, err)
				}
			}
		})
	}
	all.Wait()
}
