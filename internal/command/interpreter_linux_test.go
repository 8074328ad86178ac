package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// eachInterpreter tries those of this host.
func eachInterpreter(t *testing.T, try func(g *ground, name, real, kind string)) {
	g := newGround(t)
	for _, test := range []struct {
		name string
		kind kind
	}{{"sh", shell}, {"bash", shell}, {"perl", perl}, {"python3", python}, {"awk", awk}} {
		t.Run(test.name, func(t *testing.T) {
			g.t = t
			try(g, test.name, need(t, test.name), string(test.kind))
		})
	}
}

func TestInterpretersByName(t *testing.T) {
	eachInterpreter(t, func(g *ground, name, real, kind string) {
		g.refused(ruleInterpreter, []string{name, "-c", "x"}, real, kind, "--allow-interpreters", "allow_interpreters")
		g.refused(ruleInterpreter, []string{real}, real+" is "+kind)
		g.refused(ruleInterpreter, []string{"/usr/bin/../bin/" + filepath.Base(real)}, kind)
		g.scope.AllowInterpreters = true
		g.allowed(name)
		g.scope.AllowInterpreters = false
	})
}

// What is always on Debian, and what people come for.
func TestOrdinaryToolsAreAllowed(t *testing.T) {
	g := newGround(t)
	missing := 0
	for _, name := range strings.Fields("ls cat cp mv rm ln mkdir touch tar gzip grep sed sort uniq head tail wc cut tr find xargs diff cmp date echo printf true false " +
		"test sleep stat du df id env nice timeout nohup tee basename dirname readlink realpath sha256sum base64 od seq dd install expr numfmt " +
		"make gcc cc ld as git curl wget openssl sqlite3 jq bc dc m4 patch file zip unzip xz less ed go") {
		f, err := Check([]string{name}, g.scope)
		if run.ClassOf(err) == run.NotFound {
			missing++
			continue
		}
		if err != nil || f.Refusals != nil {
			t.Errorf("%s: %v, %+v", name, err, f.Refusals)
		}
	}
	if missing > 30 {
		t.Errorf("%d tools are missing: nothing was tested", missing)
	}
}

// Nothing but interpreters may look like one from the inside, in all of the
// host's programs. The list has those that are, whatever they are called.
func TestContentsOfEverythingOnThisHost(t *testing.T) {
	entries, err := os.ReadDir("/usr/bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		full := filepath.Join("/usr/bin", e.Name())
		real, err := filepath.EvalSymlinks(full)
		if err != nil {
			continue
		}
		byName, known := nameOf(filepath.Base(real))
		if info, err := os.Stat(real); err != nil || !known && info.Size() > 2<<20 {
			continue // large ones take long, and are of the same makers
		}
		n := natureOf(real, readSystemMost)
		if n.kind == "" && byName.told {
			n = natureOf(real, readMost) // node, whose signature is far inside
		}
		switch {
		case n.format != program:
		case n.kind != "" && !known:
			t.Errorf("%s has the inside of %s", full, n.kind)
		case n.kind != "" && n.kind != byName.kind:
			t.Errorf("%s is %s by name and %s by contents", full, byName.kind, n.kind)
		case n.kind == "" && byName.told && !n.multicall:
			t.Errorf("%s is %s, but its contents do not tell", full, byName.kind)
		}
	}
}

func TestRenamedInterpreters(t *testing.T) {
	eachInterpreter(t, func(g *ground, name, real, kind string) {
		tool := "tool-" + name
		g.copyOf(real, "ws/"+tool)
		g.refused(ruleInterpreter, []string{"./" + tool}, "./"+tool+" is a copy of "+real, kind)
		// One byte more, and it is no copy any more.
		g.copyOf(real, "ws/ls", 0)
		g.refused(ruleInterpreter, []string{"./ls"}, "./ls is "+kind)
		g.refused(ruleInterpreter, []string{"env", "./ls"}, "env runs ./ls, "+kind)
		g.link(real, "ws/link-"+name)
		g.refused(ruleInterpreter, []string{"./link-" + name}, real, kind)
		g.link("link-"+name, "ws/chain-"+name)
		g.refused(ruleInterpreter, []string{g.ws + "/chain-" + name}, real)
		// In a directory of the PATH, with a harmless name.
		g.scope.Path = append([]string{g.ws}, g.scope.Path...)
		g.refused(ruleInterpreter, []string{"ls"}, "ls is "+kind)
		g.scope.Path = g.scope.Path[1:]
	})
}

func TestHardLinkedInterpreter(t *testing.T) {
	// The host's programs may lie on another file system, so that the
	// interpreter is one of our own, without any signature.
	g := newGround(t)
	g.copyOf(need(t, "true"), "ws/tool")
	g.write("bin/other", "", 0o644)
	g.scope.Path = append(g.scope.Path, g.root+"/bin")
	g.scope.System = append(g.scope.System, g.root+"/bin")
	g.allowed("./tool")
	// It is installed later, and seen.
	if err := os.Link(g.ws+"/tool", g.root+"/bin/julia"); err != nil {
		t.Fatal(err)
	}
	g.refused(ruleInterpreter, []string{"./tool"}, "./tool is the same file as "+g.root+"/bin/julia, a Julia interpreter")
	g.copyOf(g.root+"/bin/julia", "ws/other")
	g.copyOf(need(t, "true"), "ws/other", 1)
	g.allowed("./other")
	g.copyOf(g.root+"/bin/julia", "ws/other")
	g.refused(ruleInterpreter, []string{"julia"}, "a Julia interpreter")
}

// A copy of a wrapper is a wrapper.
func TestRenamedWrapper(t *testing.T) {
	g := newGround(t)
	env := need(t, "env")
	g.copyOf(env, "ws/e")
	g.allowed("./e", "ls")
	g.refused(ruleInterpreter, []string{"./e", "sh"}, "./e is a copy of "+env, "runs", "a shell")
}

// A project may call its programs as it likes.
func TestOwnProgramsWithFamousNames(t *testing.T) {
	g := newGround(t)
	for _, name := range strings.Fields("node bash script watch python3 sh awk ex1 time find") {
		g.copyOf(need(t, "ls"), "ws/"+name, 1)
		g.allowed("./"+name, "sh")
	}
	// Of those that have no signature the name is all there is.
	g.copyOf(need(t, "ls"), "ws/deno", 1)
	g.refused(ruleInterpreter, []string{"./deno"}, "a JavaScript runtime")
}

// In the system's directories the names of links tell as well.
func TestSystemNames(t *testing.T) {
	g := newGround(t)
	g.write("lib/launcher", string(fakeELF("libc.so.6")), 0o755)
	g.write("lib/ld-musl-x86_64.so.1", string(fakeELF()), 0o755)
	g.write("bin/node18", string(fakeELF("libc.so.6")), 0o755)
	g.link("../lib/launcher", "bin/deno")
	g.link("../lib/launcher", "bin/tool")
	g.link("../lib/launcher", "bin/timeout")
	g.scope.System = append(g.scope.System, g.root+"/bin", g.root+"/lib")
	bin := g.root + "/bin/"
	g.refused(ruleInterpreter, []string{bin + "deno"}, bin+"deno is "+g.root+"/lib/launcher, a JavaScript runtime")
	g.refused(ruleInterpreter, []string{bin + "node18"}, "a JavaScript runtime")
	g.refused(ruleInterpreter, []string{bin + "timeout", "5", "sh"}, "a shell")
	g.refused(ruleInterpreter, []string{g.root + "/lib/ld-musl-x86_64.so.1", need(t, "sh")}, "a shell")
	g.allowed(bin+"tool", "5", "sh")
}

func TestLinkedWithAnInterpreter(t *testing.T) {
	g := newGround(t)
	g.write("ws/front", string(fakeELF("libc.so.6", "libpython3.11.so.1.0")), 0o755)
	g.refused(ruleInterpreter, []string{"./front"}, "./front is linked with libpython3.11.so.1.0, a Python interpreter")
	g.write("ws/plain", string(fakeELF("libc.so.6", "libpythonista.so")), 0o755)
	g.allowed("./plain")
	// Padding is not part of the program.
	g.write("ws/padded", string(fakeELF("libruby-3.1.so.3.1"))+strings.Repeat("\x00", 1<<20), 0o755)
	g.refused(ruleInterpreter, []string{"./padded"}, "a Ruby interpreter")
	big := append(fakeELF("libguile-3.0.so.1"), make([]byte, 1<<20)...)
	grow(big, 1<<20)
	g.write("ws/big", string(big), 0o755)
	g.allowed("./big") // an application that has Guile inside, such as make
}

func TestSignatures(t *testing.T) {
	g := newGround(t)
	for i, s := range signatures {
		texts := strings.ReplaceAll(strings.Join(s.texts, "\x00 \x00"), "·", "")
		name := fmt.Sprintf("sig%d", i)
		g.write("ws/"+name, string(fakeELF("libc.so.6"))+strings.Repeat("\x00", scanPart-300)+texts+"\x00", 0o755)
		switch {
		case s.inside.kind != "":
			g.refused(ruleInterpreter, []string{"./" + name}, "./"+name+" is "+string(s.inside.kind))
		default:
			g.allowed("./"+name, "ls")
			g.refused(ruleInterpreter, []string{"./" + name, need(t, "sh")}, "a shell")
		}
		for _, text := range s.texts {
			if !strings.Contains(text, "·") {
				t.Errorf("%q would make cordon itself an interpreter", text)
			}
			if n := len(strings.ReplaceAll(text, "·", "")); n < 11 {
				t.Errorf("%q has %d bytes and makes every search slower", text, n)
			}
		}
		if len(s.texts) > 1 {
			g.write("ws/half", string(fakeELF("libc.so.6"))+strings.ReplaceAll(s.texts[0], "·", ""), 0o755)
			g.allowed("./half")
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if n := natureOf(self, readMost); n.inside != (inside{}) {
		t.Errorf("this program itself is taken for one: %+v", n.inside)
	}
}

func TestMulticall(t *testing.T) {
	g := newGround(t)
	banner := string(fakeELF("libc.so.6")) + strings.ReplaceAll(signatures[0].texts[0], "·", "")
	g.write("bin/busybox", banner, 0o755)
	for _, name := range []string{"ls", "sh", "env", "awk"} {
		g.link("busybox", "bin/"+name)
	}
	if err := os.Link(g.root+"/bin/busybox", g.root+"/bin/cat"); err != nil {
		t.Fatal(err)
	}
	g.write("ws/bb", banner, 0o755)
	g.scope.System = append(g.scope.System, g.root+"/bin")
	g.scope.Path = []string{g.root + "/bin"}
	for _, argv := range [][]string{{"busybox"}, {"busybox", "ls", "-l"}, {"ls", "sh"}, {"cat", "sh"}, {"env", "ls"}, {"busybox", "env", "ls"}, {"./bb", "ls"}} {
		g.allowed(argv...)
	}
	for _, argv := range [][]string{{"busybox", "sh"}, {"busybox", "ash", "-c", "x"}, {"sh"}, {"awk"}, {"env", "sh"}, {"busybox", "env", "sh"}, {"busybox", "awk"}, {"./bb", "sh"}, {"env", "busybox", "sh"}, {"busybox", "busybox", "sh"}, {"busybox", "xargs", "sh"}} {
		g.refused(ruleInterpreter, argv, "a")
	}
}

func TestUnreadableAndHuge(t *testing.T) {
	g := newGround(t)
	if os.Getuid() != 0 {
		g.write("ws/secret", "\x7fELF", 0o111)
		g.refused(ruleInterpreter, []string{"./secret"}, "cannot be read")
	}
	g.write("ws/huge", string(fakeELF("libc.so.6")), 0o755)
	if err := os.Truncate(g.ws+"/huge", readMost+1); err != nil {
		t.Fatal(err) // it has holes and takes no room
	}
	g.refused(ruleInterpreter, []string{"./huge"}, "./huge is too large to be looked at")
}

// An alternative whose directory is not visible: not found would be right, and
// would only invite to mount more.
func TestDanglingInterpreter(t *testing.T) {
	g := newGround(t)
	g.copyOf(need(t, "awk"), "alternatives/awk")
	if err := os.MkdirAll(g.root+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	g.link("../alternatives/awk", "bin/awk")
	g.link("../alternatives/none", "bin/perl")
	g.copyOf(need(t, "ls"), "alternatives/list")
	g.link("../alternatives/list", "bin/list")
	g.scope.System, g.scope.Path = []string{g.root + "/bin"}, []string{g.root + "/bin"}
	g.refused(ruleInterpreter, []string{"awk"}, "an awk interpreter")
	g.refused(ruleInterpreter, []string{g.root + "/bin/awk"}, "an awk interpreter")
	for _, name := range []string{"perl", "list"} {
		_, err := Check([]string{name}, g.scope)
		wantClass(t, err, run.NotFound)
	}
	g.scope.AllowInterpreters = true
	_, err := Check([]string{"awk"}, g.scope)
	wantClass(t, err, run.NotFound)
}
